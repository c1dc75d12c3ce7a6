from tqdm import tqdm


def tenumerate(iterable, start=0, total=None, tqdm_class=tqdm, **options):
    return enumerate(tqdm_class(iterable, total=total, **options), start)
