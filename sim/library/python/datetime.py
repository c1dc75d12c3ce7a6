# now() is always the first moment of the year 2000; the host's zone is UTC.
MINYEAR, MAXYEAR = 1, 9999
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def _is_leap(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _days_in(year, month):
    return 29 if month == 2 and _is_leap(year) else (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]


def _days_before(year):
    return (year - 1) * 365 + (year - 1) // 4 - (year - 1) // 100 + (year - 1) // 400


def _ordinal(year, month, day):
    return _days_before(year) + sum([_days_in(year, m) for m in range(1, month)]) + day


def _of_ordinal(n):
    year = n * 400 // 146097 + 1
    while n <= _days_before(year):
        year -= 1
    n -= _days_before(year)
    month = 1
    while n > _days_in(year, month):
        n -= _days_in(year, month)
        month += 1
    return year, month, n


class _Ordered:
    """Compared by _key(), with its own kind alone."""

    def _with(self, other, compare, symbol):
        if not isinstance(other, _Ordered) or self._kind is not other._kind:
            return NotImplemented
        return compare(self._key(), other._key())

    def __eq__(self, other):
        return self._with(other, lambda a, b: a == b, "==")

    def __lt__(self, other):
        return self._with(other, lambda a, b: a < b, "<")

    def __le__(self, other):
        return self._with(other, lambda a, b: a <= b, "<=")

    def __gt__(self, other):
        return self._with(other, lambda a, b: a > b, ">")

    def __ge__(self, other):
        return self._with(other, lambda a, b: a >= b, ">=")

    def __hash__(self):
        return hash(self._key())


class timedelta(_Ordered):
    _kind = "timedelta"

    def __init__(self, days=0, seconds=0, microseconds=0, milliseconds=0, minutes=0, hours=0, weeks=0):
        whole = 86400 * (days + 7 * weeks) + seconds + 60 * minutes + 3600 * hours
        small = microseconds + 1000 * milliseconds
        self._micros = whole * 1000000 + small if isinstance(whole, int) else round(whole * 1000000 + small)
        self._micros = round(self._micros)

    days = property(lambda self: self._micros // 86400000000)
    seconds = property(lambda self: self._micros // 1000000 % 86400)
    microseconds = property(lambda self: self._micros % 1000000)

    def _key(self):
        return self._micros

    def total_seconds(self):
        return self._micros / 1000000

    def __add__(self, other):
        if not isinstance(other, timedelta):
            return NotImplemented
        return timedelta(microseconds=self._micros + other._micros)

    def __sub__(self, other):
        if not isinstance(other, timedelta):
            return NotImplemented
        return timedelta(microseconds=self._micros - other._micros)

    def __mul__(self, other):
        return timedelta(microseconds=self._micros * other)

    __rmul__ = __mul__

    def __truediv__(self, other):
        if isinstance(other, timedelta):
            return self._micros / other._micros
        return timedelta(microseconds=self._micros / other)

    def __floordiv__(self, other):
        if isinstance(other, timedelta):
            return self._micros // other._micros
        return timedelta(microseconds=self._micros // other)

    def __mod__(self, other):
        return timedelta(microseconds=self._micros % other._micros)

    def __divmod__(self, other):
        return (self // other, self % other)

    def __neg__(self):
        return timedelta(microseconds=-self._micros)

    def __pos__(self):
        return self

    def __abs__(self):
        return timedelta(microseconds=abs(self._micros))

    def __bool__(self):
        return self._micros != 0

    def __repr__(self):
        named = [("days", self.days), ("seconds", self.seconds), ("microseconds", self.microseconds)]
        return "datetime.timedelta(" + (", ".join([f"{n}={v}" for n, v in named if v]) or "0") + ")"

    def __str__(self):
        whole, micros, days = self.seconds, self.microseconds, self.days
        text = f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}" + (f".{micros:06d}" if micros else "")
        return text if days == 0 else f"{days} day{'' if abs(days) == 1 else 's'}, {text}"


class tzinfo:
    pass


class timezone(tzinfo):
    def __init__(self, offset, name=None):
        self._offset, self._name = offset, name

    def utcoffset(self, dt):
        return self._offset

    def dst(self, dt):
        return None

    def tzname(self, dt):
        return self._name or "UTC" + (_zone_text(self._offset) if self._offset else "")

    def __eq__(self, other):
        return isinstance(other, timezone) and self._offset == other._offset

    def __hash__(self):
        return hash(self._offset)

    def __repr__(self):
        if not self._offset:
            return "datetime.timezone.utc"
        return f"datetime.timezone({self._offset!r}" + (f", {self._name!r})" if self._name else ")")

    def __str__(self):
        return self.tzname(None)


timezone.utc = UTC = timezone(timedelta())


def _zone_text(offset, colon=":"):
    minutes = int(abs(offset).total_seconds()) // 60
    return f"{'-' if offset < timedelta() else '+'}{minutes // 60:02d}{colon}{minutes % 60:02d}"


def _formatted(self, format):
    year, month, day, hour, minute, second = self._fields()
    weekday = (_ordinal(year, month, day) + 6) % 7
    in_year = _ordinal(year, month, day) - _days_before(year)
    offset = self.utcoffset() if hasattr(self, "utcoffset") else None
    texts = {
        "Y": f"{year:04d}", "y": f"{year % 100:02d}", "m": f"{month:02d}", "d": f"{day:02d}", "e": f"{day:2d}",
        "H": f"{hour:02d}", "I": f"{(hour + 11) % 12 + 1:02d}", "M": f"{minute:02d}", "S": f"{second:02d}",
        "p": "AM" if hour < 12 else "PM", "f": f"{getattr(self, 'microsecond', 0):06d}",
        "A": _DAYS[weekday], "a": _DAYS[weekday][:3], "B": _MONTHS[month - 1], "b": _MONTHS[month - 1][:3],
        "h": _MONTHS[month - 1][:3], "j": f"{in_year:03d}", "w": str((weekday + 1) % 7), "u": str(weekday + 1),
        "U": f"{(in_year + 6 - (weekday + 1) % 7) // 7:02d}", "W": f"{(in_year + 6 - weekday) // 7:02d}",
        "z": "" if offset is None else _zone_text(offset, ""), "%": "%", "n": "\n", "t": "\t",
        "Z": "" if offset is None else self.tzinfo.tzname(self),
    }  # fmt: skip
    texts["F"], texts["D"] = f"{texts['Y']}-{texts['m']}-{texts['d']}", f"{texts['m']}/{texts['d']}/{texts['y']}"
    texts["T"] = texts["X"] = f"{texts['H']}:{texts['M']}:{texts['S']}"
    texts["R"], texts["x"] = f"{texts['H']}:{texts['M']}", texts["D"]
    texts["c"] = f"{texts['a']} {texts['b']} {texts['e']} {texts['T']} {texts['Y']}"
    texts["s"] = str(int(self.timestamp())) if hasattr(self, "timestamp") else "0"
    out, at = "", 0
    while at < len(format):
        if format[at] == "%" and format[at + 1 : at + 2] in texts:
            out += texts[format[at + 1]]
            at += 2
        else:
            out += format[at]
            at += 1
    return out


class date(_Ordered):
    _kind = "date"

    def __init__(self, year, month, day):
        if not MINYEAR <= year <= MAXYEAR:
            raise ValueError(f"year {year} is out of range")
        if not 1 <= month <= 12:
            raise ValueError("month must be in 1..12")
        if not 1 <= day <= _days_in(year, month):
            raise ValueError("day is out of range for month")
        self.year, self.month, self.day = year, month, day

    @classmethod
    def today(cls):
        return cls(2000, 1, 1)

    @classmethod
    def fromordinal(cls, n):
        return cls(*_of_ordinal(n))

    @classmethod
    def fromtimestamp(cls, timestamp):
        return cls(*_of_ordinal(719163 + int(timestamp // 86400)))

    @classmethod
    def fromisoformat(cls, date_string):
        year, month, day = date_string.split("-")
        return cls(int(year), int(month), int(day))

    def _fields(self):
        return (self.year, self.month, self.day, 0, 0, 0)

    def _key(self):
        return (self.year, self.month, self.day)

    def toordinal(self):
        return _ordinal(self.year, self.month, self.day)

    def weekday(self):
        return (self.toordinal() + 6) % 7

    def isoweekday(self):
        return self.weekday() + 1

    def isocalendar(self):
        thursday = self.toordinal() - self.weekday() + 3
        year = _of_ordinal(thursday)[0]
        return (year, (thursday - _days_before(year) - 1) // 7 + 1, self.isoweekday())

    def timetuple(self):
        from time import struct_time

        in_year = self.toordinal() - _days_before(self.year)
        return struct_time(*self._fields(), self.weekday(), in_year, -1)

    def replace(self, year=None, month=None, day=None):
        return type(self)(year or self.year, month or self.month, day or self.day)

    def strftime(self, format):
        return _formatted(self, format)

    def __format__(self, spec):
        return self.strftime(spec) if spec else str(self)

    def isoformat(self):
        return f"{self.year:04d}-{self.month:02d}-{self.day:02d}"

    def ctime(self):
        return self.strftime("%c")

    def __add__(self, other):
        if not isinstance(other, timedelta):
            return NotImplemented
        return type(self).fromordinal(self.toordinal() + other.days)

    __radd__ = __add__

    def __sub__(self, other):
        if isinstance(other, timedelta):
            return self + timedelta(-other.days)
        if not isinstance(other, date):
            return NotImplemented
        return timedelta(self.toordinal() - other.toordinal())

    def __repr__(self):
        return f"datetime.date({self.year}, {self.month}, {self.day})"

    def __str__(self):
        return self.isoformat()


def _clock_text(hour, minute, second, micros):
    return f"{hour:02d}:{minute:02d}:{second:02d}" + (f".{micros:06d}" if micros else "")


class time(_Ordered):
    _kind = "time"

    def __init__(self, hour=0, minute=0, second=0, microsecond=0, tzinfo=None, *, fold=0):
        self.hour, self.minute, self.second, self.microsecond = hour, minute, second, microsecond
        self.tzinfo, self.fold = tzinfo, fold

    @classmethod
    def fromisoformat(cls, time_string):
        return cls(*_clock(time_string))

    def replace(self, **changed):
        now = {name: getattr(self, name) for name in ("hour", "minute", "second", "microsecond", "tzinfo", "fold")}
        return type(self)(**{**now, **changed})

    def _fields(self):
        return (1900, 1, 1, self.hour, self.minute, self.second)

    def _key(self):
        return (self.hour, self.minute, self.second, self.microsecond)

    def strftime(self, format):
        return _formatted(self, format)

    def isoformat(self):
        return _clock_text(self.hour, self.minute, self.second, self.microsecond)

    def __repr__(self):
        parts = [self.hour, self.minute, self.second, self.microsecond]
        while len(parts) > 2 and parts[-1] == 0:
            parts.pop()
        return "datetime.time(" + ", ".join([str(p) for p in parts]) + ")"

    def __str__(self):
        return self.isoformat()


def _clock(text):
    whole, _, part = text.partition(".")
    numbers = [int(n) for n in whole.split(":")]
    return numbers + [0] * (3 - len(numbers)) + [int((part + "000000")[:6])]


class datetime(date):
    _kind = "datetime"

    def __init__(
        self, year, month, day, hour=0, minute=0, second=0, microsecond=0, tzinfo=None, *, fold=0
    ):
        super().__init__(year, month, day)
        for name, value, end in (("hour", hour, 24), ("minute", minute, 60), ("second", second, 60)):
            if not 0 <= value < end:
                raise ValueError(f"{name} must be in 0..{end - 1}")
        self.hour, self.minute, self.second, self.microsecond = hour, minute, second, microsecond
        self.tzinfo, self.fold = tzinfo, fold

    @classmethod
    def now(cls, tz=None):
        return cls(2000, 1, 1, tzinfo=tz)

    @classmethod
    def today(cls):
        return cls.now()

    @classmethod
    def utcnow(cls):
        return cls.now()

    @classmethod
    def _of_micros(cls, micros, tz=None):
        days, rest = divmod(micros, 86400000000)
        seconds, part = divmod(rest, 1000000)
        year, month, day = _of_ordinal(days)
        return cls(year, month, day, seconds // 3600, seconds // 60 % 60, seconds % 60, part, tz)

    @classmethod
    def fromtimestamp(cls, timestamp, tz=None):
        made = cls._of_micros(719163 * 86400000000 + round(timestamp * 1000000), tz)
        return made if tz is None else made + tz.utcoffset(made)

    @classmethod
    def utcfromtimestamp(cls, timestamp):
        return cls.fromtimestamp(timestamp)

    @classmethod
    def fromordinal(cls, n):
        return cls(*_of_ordinal(n))

    @classmethod
    def combine(cls, date, time, tzinfo=None):
        clock = (time.hour, time.minute, time.second, time.microsecond)
        return cls(date.year, date.month, date.day, *clock, tzinfo or time.tzinfo)

    @classmethod
    def fromisoformat(cls, date_string):
        day, clock, zone = date_string[:10], date_string[11:], None
        if clock.endswith("Z"):
            clock, zone = clock[:-1], timezone.utc
        for sign in "+-":
            if sign in clock:
                clock, _, offset = clock.partition(sign)
                hours, minutes = offset.split(":")[:2]
                shift = timedelta(hours=int(hours), minutes=int(minutes))
                zone = timezone(-shift if sign == "-" else shift)
        year, month, day = day.split("-")
        return cls(int(year), int(month), int(day), *(_clock(clock) if clock else []), tzinfo=zone)

    @classmethod
    def strptime(cls, date_string, format):
        return cls(*_parsed(date_string, format))

    def _fields(self):
        return (self.year, self.month, self.day, self.hour, self.minute, self.second)

    def _key(self):
        offset = self.utcoffset()
        return self._micros() - (0 if offset is None else offset._micros)

    def _micros(self):
        seconds = (self.toordinal() * 24 + self.hour) * 3600 + self.minute * 60 + self.second
        return seconds * 1000000 + self.microsecond

    def utcoffset(self):
        return None if self.tzinfo is None else self.tzinfo.utcoffset(self)

    def tzname(self):
        return None if self.tzinfo is None else self.tzinfo.tzname(self)

    def date(self):
        return date(self.year, self.month, self.day)

    def time(self):
        return time(self.hour, self.minute, self.second, self.microsecond)

    def timestamp(self):
        return (self._key() - 719163 * 86400000000) / 1000000

    def astimezone(self, tz=None):
        tz = tz or timezone.utc
        made = datetime._of_micros(self._key(), tz)
        return made + tz.utcoffset(made)

    def replace(self, year=None, month=None, day=None, *clock, tzinfo=True, **named):
        names = ("year", "month", "day", "hour", "minute", "second", "microsecond")
        given = {**dict(zip(names, (year, month, day, *clock))), **named}
        for name in given:
            if name not in names:
                raise TypeError(f"replace() got an unexpected keyword argument {name!r}")
        own = zip(names, (*self._fields(), self.microsecond))
        values = [value if given.get(name) is None else given[name] for name, value in own]
        return type(self)(*values, self.tzinfo if tzinfo is True else tzinfo)

    def isoformat(self, sep="T", timespec="auto"):
        clock = _clock_text(self.hour, self.minute, self.second, self.microsecond)
        if timespec == "minutes":
            clock = clock[:5]
        elif timespec == "seconds":
            clock = clock[:8]
        elif timespec in ("milliseconds", "microseconds"):
            clock = f"{clock[:8]}.{self.microsecond:06d}"[: 12 if timespec == "milliseconds" else 15]
        offset = self.utcoffset()
        return f"{date.isoformat(self)}{sep}{clock}" + ("" if offset is None else _zone_text(offset))

    def __add__(self, other):
        if not isinstance(other, timedelta):
            return NotImplemented
        return type(self)._of_micros(self._micros() + other._micros, self.tzinfo)

    __radd__ = __add__

    def __sub__(self, other):
        if isinstance(other, timedelta):
            return self + -other
        if not isinstance(other, datetime):
            return NotImplemented
        return timedelta(microseconds=self._key() - other._key())

    def __repr__(self):
        parts = [*self._fields(), self.microsecond]
        while len(parts) > 5 and parts[-1] == 0:
            parts.pop()
        zone = "" if self.tzinfo is None else f", tzinfo={self.tzinfo!r}"
        return "datetime.datetime(" + ", ".join([str(p) for p in parts]) + zone + ")"

    def __str__(self):
        return self.isoformat(" ")


def _parsed(text, format):
    """The numbers of a text in the form that the format says: year to microsecond."""
    import re

    names = [name[:3].lower() for name in _MONTHS]
    patterns = {
        "Y": r"(?P<Y>\d{4})", "y": r"(?P<y>\d\d)", "m": r"(?P<m>\d\d?)", "d": r"(?P<d>\d\d?)",
        "H": r"(?P<H>\d\d?)", "I": r"(?P<I>\d\d?)", "M": r"(?P<M>\d\d?)", "S": r"(?P<S>\d\d?)",
        "f": r"(?P<f>\d{1,6})", "p": r"(?P<p>[AaPp][Mm])", "b": r"(?P<b>[A-Za-z]{3})", "B": r"(?P<b>[A-Za-z]+)",
        "a": r"[A-Za-z]{3}", "A": r"[A-Za-z]+", "%": "%", "j": r"\d{1,3}",
    }  # fmt: skip
    pattern, at = "", 0
    while at < len(format):
        if format[at] == "%":
            pattern += patterns[format[at + 1]]
            at += 2
        else:
            pattern += r"\s+" if format[at].isspace() else re.escape(format[at])
            at += 1
    found = re.fullmatch(pattern, text)
    if found is None:
        raise ValueError(f"time data {text!r} does not match format {format!r}")
    got = found.groupdict()
    year = int(got["Y"]) if got.get("Y") else 1900
    if got.get("y"):
        year = int(got["y"]) + (2000 if int(got["y"]) < 69 else 1900)
    month = names.index(got["b"][:3].lower()) + 1 if got.get("b") else int(got.get("m") or 1)
    hour = int(got.get("H") or 0)
    if got.get("I"):
        hour = int(got["I"]) % 12 + (12 if (got.get("p") or "").lower() == "pm" else 0)
    micros = int(((got.get("f") or "") + "000000")[:6])
    return (year, month, int(got.get("d") or 1), hour, int(got.get("M") or 0), int(got.get("S") or 0), micros)
