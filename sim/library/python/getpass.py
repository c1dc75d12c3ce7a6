def getuser():
    return "root"


def getpass(prompt="Password: ", stream=None):
    import _tidemark

    _tidemark.refuse("getpass.getpass() is not modelled", "nobody is there who types")
