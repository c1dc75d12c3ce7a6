annotations = division = print_function = absolute_import = with_statement = unicode_literals = None
nested_scopes = generators = generator_stop = barry_as_FLUFL = None
