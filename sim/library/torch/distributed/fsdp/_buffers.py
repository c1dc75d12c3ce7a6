# What FullyShardedDataParallel does with buffers when states are taken. Source:
# torch.distributed.fsdp._state_dict_utils._common_unshard_post_state_dict_hook


def _clean(name):
    return name.replace("_fsdp_wrapped_module.", "").replace("_checkpoint_wrapped_module.", "")


class Buffers:
    """the buffers of a unit, inner units' too: their names, as a set, and their types when the unit was made"""

    def __init__(self, module, ignored_modules):
        given = [(_clean(name), buffer) for name, buffer in module.named_buffers()]
        self._names = {name for name, buffer in given}
        self._dtypes = {name: buffer.dtype for name, buffer in given}
        left = [id(b) for m in ignored_modules for b in m.buffers()]
        self._ignored = [name for name, buffer in given if id(buffer) in left]

    def hand_out(self, out, prefix, keeps, unit):
        """as they go to the program: those that were cast are put back into their type, on the GPU"""
        names, cast = [], []
        for name in self._names:
            key = prefix + name
            if key not in out:
                continue
            if not keeps:
                out.pop(key)
                continue
            buffer = out[key]  # which lives until the next is taken
            if unit._state_dict_config.offload_to_cpu:
                out[key] = buffer.cpu()
            if name not in self._ignored:
                names.append(name)
                cast.append(out[key])
        if unit.mixed_precision.buffer_dtype is None:
            return
        for i, name in enumerate(names):
            cast[i].data = cast[i].to(unit.compute_device, self._dtypes[name])
        for name, buffer in zip(names, cast):
            out[prefix + name] = buffer.clone()
