def thread_map(fn, *iterables, **options):
    return [fn(*each) for each in zip(*iterables)]


process_map = thread_map
