def checkpoint_blocks(model):
    """Blocks that a model has in a row run again in backward."""
    within = set()
    for part in list(model.modules()):
        is_row = isinstance(part, (torch.nn.ModuleList, torch.nn.Sequential))
        blocks = list(part.children()) if is_row and part not in within else []
        is_one_kind = len({type(block) for block in blocks}) == 1
        if len(blocks) < 2 or not is_one_kind or not list(blocks[0].children()):
            continue
        for block in blocks:
            within.update(block.modules())
            block.forward = functools.partial(
                torch.utils.checkpoint.checkpoint, block.forward, use_reentrant=False)
