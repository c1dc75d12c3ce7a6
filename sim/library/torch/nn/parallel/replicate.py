from torch.nn.parallel import comm
from torch.nn.parallel._functions import Broadcast, _device
from torch.nn.parallel.data_parallel import _index_of


def _copies(tensors, devices, detach):
    if not tensors:
        return [[] for d in devices]
    if detach:
        return comm.broadcast_coalesced(tensors, devices)
    flat = Broadcast.apply(devices, *tensors)
    return [list(flat[i:i + len(tensors)]) for i in range(0, len(flat), len(tensors))]


def replicate(network, devices, detach=False):
    devices = [_device(d) for d in devices]
    params, buffers = list(network.parameters()), list(network.buffers())
    param_copies = _copies(params, devices, detach)
    buffer_copies = _copies(buffers, devices, True)
    modules = list(network.modules())
    copies = [[m._replicate_for_data_parallel() for m in modules] for d in devices]
    for i, module in enumerate(modules):
        for j in range(len(devices)):
            replica = copies[j][i]
            for key, child in module._module_items():
                replica.add_module(key, None if child is None else copies[j][_index_of(modules, child)])
            for key, param in module._parameter_items():
                if param is None:
                    replica.register_parameter(key, None)
                else:
                    setattr(replica, key, param_copies[j][_index_of(params, param)])
            for key, buffer in module._buffer_items():
                setattr(replica, key, None if buffer is None else buffer_copies[j][_index_of(buffers, buffer)])
    return [copies[j][0] for j in range(len(devices))]
