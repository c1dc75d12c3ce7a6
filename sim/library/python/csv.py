import _tidemark

reader, DictReader = [_tidemark.later("csv." + n) for n in ("reader", "DictReader")]
QUOTE_MINIMAL, QUOTE_ALL, QUOTE_NONNUMERIC, QUOTE_NONE = range(4)


class _Writer:
    def __init__(self, csvfile, delimiter, lineterminator):
        self._file, self._delimiter, self._end = csvfile, delimiter, lineterminator

    def writerow(self, row):
        cells = ["" if cell is None else str(cell) for cell in row]
        special = (self._delimiter, '"', "\n")
        quoted = ['"' + c.replace('"', '""') + '"' if any([s in c for s in special]) else c for c in cells]
        return self._file.write(self._delimiter.join(quoted) + self._end)

    def writerows(self, rows):
        for row in rows:
            self.writerow(row)


def writer(csvfile, dialect="excel", *, delimiter=",", lineterminator="\r\n", **options):
    return _Writer(csvfile, delimiter, lineterminator)


class DictWriter:
    def __init__(self, f, fieldnames, restval="", extrasaction="raise", dialect="excel", *args, **options):
        self.fieldnames, self.restval, self.extrasaction = fieldnames, restval, extrasaction
        self.writer = writer(f, dialect, **options)

    def writeheader(self):
        return self.writer.writerow(self.fieldnames)

    def writerow(self, rowdict):
        if self.extrasaction == "raise" and any([k not in self.fieldnames for k in rowdict]):
            raise ValueError("dict contains fields not in fieldnames")
        return self.writer.writerow([rowdict.get(k, self.restval) for k in self.fieldnames])

    def writerows(self, rowdicts):
        for row in rowdicts:
            self.writerow(row)
