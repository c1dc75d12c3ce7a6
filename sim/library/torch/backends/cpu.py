def get_cpu_capability():
    """of the machine on which the values that a run knows were drawn"""
    return "AVX2"
