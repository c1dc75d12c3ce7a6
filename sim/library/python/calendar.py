from datetime import date

day_name = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
day_abbr = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
month_name = [
    "", "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
]  # fmt: skip
month_abbr = ["", "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def isleap(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def leapdays(y1, y2):
    return sum([isleap(year) for year in range(y1, y2)])


def weekday(year, month, day):
    return date(year, month, day).weekday()


def monthrange(year, month):
    days = 29 if month == 2 and isleap(year) else (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]
    return (weekday(year, month, 1), days)


def timegm(tuple):
    year, month, day, hour, minute, second = tuple[:6]
    return ((date(year, month, 1).toordinal() - 719163 + day - 1) * 24 + hour) * 3600 + minute * 60 + second
