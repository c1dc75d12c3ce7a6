annotations = division = print_function = None
