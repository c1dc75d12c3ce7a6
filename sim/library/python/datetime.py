# Every moment is the same one.
class timedelta:
    def __init__(self, days=0, seconds=0, microseconds=0, milliseconds=0, minutes=0, hours=0, weeks=0):
        self._seconds = (
            seconds
            + microseconds / 1000000
            + milliseconds / 1000
            + 60 * minutes
            + 3600 * hours
            + 86400 * (days + 7 * weeks)
        )

    @property
    def days(self):
        return int(self._seconds // 86400)

    @property
    def seconds(self):
        return int(self._seconds % 86400)

    def total_seconds(self):
        return float(self._seconds)

    def __add__(self, other):
        return timedelta(seconds=self._seconds + other._seconds)

    def __sub__(self, other):
        return timedelta(seconds=self._seconds - other._seconds)

    def __str__(self):
        whole = int(self._seconds % 86400)
        text = f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"
        days = self.days
        return text if days == 0 else f"{days} day{'' if abs(days) == 1 else 's'}, {text}"


class datetime:
    year, month, day, hour, minute, second, microsecond = 2000, 1, 1, 0, 0, 0, 0

    @classmethod
    def now(cls, tz=None):
        return cls()

    today = utcnow = now

    def strftime(self, format):
        for code, text in (("%Y", "2000"), ("%y", "00"), ("%m", "01"), ("%d", "01"), ("%b", "Jan"), ("%B", "January")):
            format = format.replace(code, text)
        for code in ("%H", "%M", "%S"):
            format = format.replace(code, "00")
        return format

    def isoformat(self, sep="T"):
        return "2000-01-01" + sep + "00:00:00"

    def timestamp(self):
        return 946684800.0

    def __sub__(self, other):
        return timedelta() if isinstance(other, datetime) else self

    def __add__(self, other):
        return self

    def __str__(self):
        return "2000-01-01 00:00:00"


date = datetime


class timezone:
    def __init__(self, offset, name=None):
        self._offset = offset

    def utcoffset(self, dt):
        return self._offset


timezone.utc = UTC = timezone(timedelta())
