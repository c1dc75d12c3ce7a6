def getuser():
    return "root"
