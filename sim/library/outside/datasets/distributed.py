"""A data set's part of a rank."""


def split_dataset_by_node(dataset, rank, world_size):
    """Ranks have neighbouring rows; the first ones have one more where they do not divide evenly."""
    part, more = divmod(len(dataset), world_size)
    first = part * rank + min(rank, more)
    return dataset.select(range(first, first + part + (rank < more)))
