torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
torch.distributed.init_process_group("nccl")


def share_model(model):
    """Each process holds a part of every weight. Blocks that the model has in a row are gathered one by one."""
    shard = torch.distributed.fsdp.fully_shard
    within = set()
    for part in list(model.modules()):
        is_row = isinstance(part, (torch.nn.ModuleList, torch.nn.Sequential))
        blocks = list(part.children()) if is_row and part not in within else []
        if len(blocks) < 2 or len({type(block) for block in blocks}) > 1:
            continue
        for block in blocks:
            within.update(block.modules())
            if any(True for _ in block.parameters()):
                shard(block)
    shard(model)
