def pformat(object, *args, **options):
    return repr(object)


def pprint(object, *args, **options):
    print(repr(object))


pp = pprint


class PrettyPrinter:
    def __init__(self, *args, **options):
        pass

    def pprint(self, object):
        pprint(object)

    def pformat(self, object):
        return pformat(object)
