"""Every text as it stands: there are no other languages here."""


def gettext(message):
    return message


def ngettext(msgid1, msgid2, n):
    return msgid1 if n == 1 else msgid2


def dgettext(domain, message):
    return message


def dngettext(domain, msgid1, msgid2, n):
    return ngettext(msgid1, msgid2, n)


def pgettext(context, message):
    return message


def npgettext(context, msgid1, msgid2, n):
    return ngettext(msgid1, msgid2, n)


def textdomain(domain=None):
    return domain or "messages"


def bindtextdomain(domain, localedir=None):
    return localedir


def find(domain, localedir=None, languages=None, all=False):
    return [] if all else None


class NullTranslations:
    def __init__(self, fp=None):
        pass

    def add_fallback(self, fallback):
        pass

    def gettext(self, message):
        return message

    def ngettext(self, msgid1, msgid2, n):
        return ngettext(msgid1, msgid2, n)

    pgettext, npgettext = staticmethod(pgettext), staticmethod(npgettext)

    def info(self):
        return {}

    def install(self, names=None):
        import builtins

        builtins._ = self.gettext


GNUTranslations = NullTranslations


def translation(domain, localedir=None, languages=None, class_=None, fallback=False):
    if not fallback:
        raise FileNotFoundError(2, "No translation file found for domain", domain)
    return NullTranslations()


def install(domain, localedir=None, *, names=None):
    translation(domain, localedir, fallback=True).install(names)
