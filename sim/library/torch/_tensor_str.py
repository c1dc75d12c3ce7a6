def set_printoptions(**options):
    return None
