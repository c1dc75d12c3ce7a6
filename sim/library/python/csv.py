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


class Error(Exception):
    pass


class _Reader:
    def __init__(self, csvfile, delimiter, quotechar, skipinitialspace):
        self._lines, self.line_num = iter(csvfile), 0
        self._delimiter, self._quote, self._skip = delimiter, quotechar, skipinitialspace

    def __iter__(self):
        return self

    def __next__(self):
        self.line_num += 1
        line = next(self._lines)
        cells, cell, quoted, at = [], "", False, 0
        while True:
            if at == len(line):
                if not quoted:
                    break
                self.line_num += 1
                line, at = next(self._lines), 0
                continue
            c = line[at]
            at += 1
            if quoted:
                if c != self._quote:
                    cell += c
                elif line[at : at + 1] == self._quote:
                    cell += c
                    at += 1
                else:
                    quoted = False
            elif c == self._quote and not cell:
                quoted = True
            elif c == self._delimiter:
                cells.append(cell)
                cell = ""
                while self._skip and line[at : at + 1] == " ":
                    at += 1
            elif c in "\r\n":
                break
            else:
                cell += c
        return cells + [cell] if cells or cell or line.strip("\r\n") else []


def reader(csvfile, dialect="excel", *, delimiter=None, quotechar='"', skipinitialspace=False, **options):
    if delimiter is None:
        delimiter = "\t" if dialect == "excel-tab" else ","
    return _Reader(csvfile, delimiter, quotechar, skipinitialspace)


class DictReader:
    def __init__(self, f, fieldnames=None, restkey=None, restval=None, dialect="excel", *args, **options):
        self.reader, self._names = reader(f, dialect, **options), fieldnames
        self.restkey, self.restval = restkey, restval

    @property
    def fieldnames(self):
        if self._names is None:
            self._names = next(self.reader, None)
        return self._names

    @property
    def line_num(self):
        return self.reader.line_num

    def __iter__(self):
        return self

    def __next__(self):
        names = self.fieldnames
        row = next(self.reader)
        while not row:
            row = next(self.reader)
        out = dict(zip(names, row))
        if len(row) > len(names):
            out[self.restkey] = row[len(names) :]
        for name in names[len(row) :]:
            out[name] = self.restval
        return out
