import _tidemark
import torch

# NCCL's own device memory, an estimate beside what the allocator holds. The default buffers of a connection are its own
# figures (init.cc, computeBuffSizes; device.h): LL 8 lines x 512 threads x 8 steps x 16 bytes, LL128 120 elements x 640
# threads x 8 steps x 8 bytes, Simple 4 MiB. Over NVLink and PCIe the receiver has them (p2p.cc); where the sender is
# read from it has Simple's instead. Over a network both ends have those of LL128 and Simple (net.cc).
_LL, _LL128, _SIMPLE = 8 * 512 * 8 * 16, 120 * 640 * 8 * 8, 4 << 20
_EDGE, _NET_EDGE = _LL + _LL128 + _SIMPLE, 2 * (_LL128 + _SIMPLE)

# (link, fewest and most channels of a collective, basis). The search for rings halves or keeps what the links bear and
# then doubles it (connect.cc, ncclTopoPostset): what it finds hangs on the machine, so that these are bounds.
_CHANNELS = {
    "NVLink of compute capability 9.0 and above": (16, 32, "connect.cc, search.cc of NCCL 2.30; medium confidence"),
    "NVLink of compute capability 8.0": (12, 24, "connect.cc, search.cc of NCCL 2.30; medium confidence"),
    "NVLink of compute capability 7.0": (6, 12, "connect.cc, search.cc of NCCL 2.30; low confidence"),
    "PCIe": (2, 4, "connect.cc, search.cc of NCCL 2.30; medium confidence"),
}
_NVLINK_NAMES = ("SXM", "HBM3", "H200", "B200", "B300", "H800", "H20")


def link():
    name, (major, minor) = torch.cuda.get_device_name(), torch.cuda.get_device_capability()
    has_nvlink = any([part in name for part in _NVLINK_NAMES]) and "PCIe" not in name and major >= 7
    if not has_nvlink:
        return "PCIe"
    generation = "9.0 and above" if major >= 9 else f"{major}.0"
    return f"NVLink of compute capability {generation}"


def bounds(ranks, per_node, is_pair):
    """(fewest, most bytes, link) of a communicator on one GPU: a ring in the fewest channels, a tree beside it in the
    most. Two that send to each other have a connection for each direction"""
    way = link()
    low, high, _ = _CHANNELS[way]
    if is_pair:
        return 2 * _EDGE, high * _EDGE, way
    if ranks > per_node:
        return low * _EDGE, high * (2 * _EDGE + _NET_EDGE), way + ", and a network"
    return low * _EDGE, high * 2 * _EDGE, way


def tell(ranks, is_pair=False):
    """notes what a communicator of that many ranks takes beside what is counted. One alone takes nothing to speak of"""
    job = torch._C.rank_in_job()
    if job is None or ranks < 2:
        return
    low, high, way = bounds(ranks, job[3], is_pair)
    what = "two ranks that send to each other" if is_pair else f"{ranks} ranks"
    _tidemark.note(
        f"NCCL's own buffers for a communicator of {what} are not counted: "
        f"an estimate of {low >> 20} to {high >> 20} MiB over {way}"
    )
