#!/usr/bin/env python3
"""Measures what a calibration holds inside a real PyTorch, the process that users have: no CUDA toolkit is needed.

    probe.py OUT [--repeats N]     OUT gets what tidemark-probe prints (docs/formats/calibration.md)

What each stage takes of the device besides PyTorch's own segments: the driver's context, a first kernel, cuBLAS, cuDNN, NCCL. The host's
time for an operator in PyTorch's own loop, rates of its own products and copies, cuDNN's workspaces as PyTorch's choice of algorithms asks
for them, and the driver's calls for memory by size. Exit codes: 0 done, 1 the device failed, 77 no device or no PyTorch.
"""
import argparse
import ctypes
import datetime
import json
import os
import statistics
import sys
import time

MIB = 1 << 20
PAGE = 2 * MIB
NOT_AVAILABLE = 2**64 - 1


class Failed(Exception):
    """a call of the driver or the runtime that did not succeed"""


def spread(key, values):
    """the middle one, and between what they lie: a stray interrupt does not count"""
    values = sorted(values)
    return {key: values[len(values) // 2], key + "_spread": [values[0], values[-1], len(values)]}


class Nvml:
    """what NVML tells of the device with that UUID; nothing where it is not there"""

    class Process(ctypes.Structure):
        _fields_ = [("pid", ctypes.c_uint), ("used", ctypes.c_ulonglong), ("gpu_instance", ctypes.c_uint), ("compute_instance", ctypes.c_uint)]

    def __init__(self, uuid):
        self.library, self.device = None, ctypes.c_void_p()
        try:
            library = ctypes.CDLL("libnvidia-ml.so.1")
        except OSError:
            return
        if library.nvmlInit_v2() != 0:
            return
        for kind in ("GPU-", "MIG-"):
            if library.nvmlDeviceGetHandleByUUID((kind + uuid).encode(), ctypes.byref(self.device)) == 0:
                self.library = library
                return

    def processes(self):
        """(pid, bytes) of each; None: it does not say"""
        if self.library is None:
            return None
        for room in (16, 256, 4096):
            count, found = ctypes.c_uint(room), (self.Process * room)()
            code = self.library.nvmlDeviceGetComputeRunningProcesses_v3(self.device, ctypes.byref(count), found)
            if code == 0:
                return [(found[i].pid, found[i].used) for i in range(count.value)]
        return None

    def own_bytes(self):
        """what this process holds; None: it does not say"""
        return next((used for pid, used in self.processes() or () if pid == os.getpid() and used not in (0, NOT_AVAILABLE)), None)

    def others(self):
        """-1: it does not say. In a container the numbers are the host's: one of them is this process all the same."""
        found = self.processes()
        return -1 if found is None else max(0, len(found) - 1)

    def driver(self):
        text = ctypes.create_string_buffer(96)
        told = self.library is not None and self.library.nvmlSystemGetDriverVersion(text, len(text)) == 0
        return text.value.decode() if told else ""


def loaded(name):
    """the library of that name which PyTorch has loaded"""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        path = next((line.split(None, 5)[5].strip() for line in maps if os.path.basename(line.strip().rpartition("/")[2]).startswith(name)), None)
    if path is None:
        raise Failed("%s is not loaded" % name)
    return ctypes.CDLL(path)


def timed(what, call, *arguments):
    begin = time.perf_counter_ns()
    code = call(*arguments)
    took = time.perf_counter_ns() - begin
    if code != 0:
        raise Failed("%s: error %d" % (what, code))
    return took


class Driver:
    """the calls for memory that PyTorch's allocator makes, timed"""

    class Properties(ctypes.Structure):
        """CUmemAllocationProp"""
        _fields_ = [("type", ctypes.c_int), ("handles", ctypes.c_int), ("place", ctypes.c_int), ("device", ctypes.c_int),
                    ("windows", ctypes.c_void_p), ("flags", ctypes.c_ubyte * 8)]

    class Access(ctypes.Structure):
        """CUmemAccessDesc"""
        _fields_ = [("place", ctypes.c_int), ("device", ctypes.c_int), ("flags", ctypes.c_int)]

    def __init__(self):
        self.runtime, self.driver = loaded("libcudart.so"), ctypes.CDLL("libcuda.so.1")
        self.pinned = self.Properties(type=1, place=1)
        self.access = self.Access(1, 0, 3)
        self.range = ctypes.c_ulonglong()
        timed("cuMemAddressReserve", self.driver.cuMemAddressReserve, ctypes.byref(self.range), ctypes.c_size_t(PAGE), ctypes.c_size_t(0),
              ctypes.c_ulonglong(0), ctypes.c_ulonglong(0))

    def malloc(self, size):
        """(address, nanoseconds)"""
        place = ctypes.c_void_p()
        took = timed("cudaMalloc", self.runtime.cudaMalloc, ctypes.byref(place), ctypes.c_size_t(size))
        return place.value, took

    def free(self, place):
        return timed("cudaFree", self.runtime.cudaFree, ctypes.c_void_p(place))

    def map_page(self):
        """(nanoseconds to make and map a page, to unmap and release it)"""
        handle, size = ctypes.c_ulonglong(), ctypes.c_size_t(PAGE)
        took = timed("cuMemCreate", self.driver.cuMemCreate, ctypes.byref(handle), size, ctypes.byref(self.pinned), ctypes.c_ulonglong(0))
        took += timed("cuMemMap", self.driver.cuMemMap, self.range, size, ctypes.c_size_t(0), handle, ctypes.c_ulonglong(0))
        took += timed("cuMemSetAccess", self.driver.cuMemSetAccess, self.range, size, ctypes.byref(self.access), ctypes.c_size_t(1))
        back = timed("cuMemUnmap", self.driver.cuMemUnmap, self.range, size)
        return took, back + timed("cuMemRelease", self.driver.cuMemRelease, handle)


def memory_calls(torch, repeats):
    """latencies by size, the driver's granularity and the order of its addresses"""
    driver = Driver()
    before = torch.cuda.mem_get_info()[0]
    place, _ = driver.malloc(PAGE + 1)
    granularity = max(0, before - torch.cuda.mem_get_info()[0] - PAGE)
    driver.free(place)
    places = [driver.malloc(32 * MIB)[0] for _ in range(6)]
    order = "down" if places == sorted(places, reverse=True) else "up" if places == sorted(places) else "mixed"
    for place in places:
        driver.free(place)
    latencies, size = [], PAGE
    while size <= min(torch.cuda.mem_get_info()[0] // 4, 4096 * MIB):
        rows = []
        for _ in range(repeats + 1):  # the first warms up
            place, taken = driver.malloc(size)
            rows.append((taken, driver.free(place), *driver.map_page()))
        keys = ("malloc_ns", "free_ns", "map_ns", "unmap_ns")
        latencies.append({"bytes": size, **{k: v for key, column in zip(keys, zip(*rows[1:])) for k, v in spread(key, column).items()}})
        size *= 2
    return {"granularity_bytes": granularity, "address_order": order, "latencies": latencies}


class Stages:
    """what each stage takes of the device besides PyTorch's own segments"""

    def __init__(self, torch, nvml):
        self.torch, self.nvml = torch, nvml
        self.last = self.gone()

    def gone(self):
        self.torch.cuda.synchronize()
        own = self.nvml.own_bytes()
        if own is None:
            free, total = self.torch.cuda.mem_get_info()
            own = total - free
        return own - self.torch.cuda.memory_reserved()

    def take(self):
        """since the last stage"""
        before, self.last = self.last, self.gone()
        return max(0, self.last - before)


def nccl_bytes(torch, stages):
    """of a communicator of one device; -1: there is none"""
    distributed = torch.distributed
    if not distributed.is_available() or not distributed.is_nccl_available():
        return -1
    try:
        distributed.init_process_group("nccl", store=distributed.HashStore(), rank=0, world_size=1)
        distributed.all_reduce(torch.ones(1, device="cuda"))
        taken = stages.take()
        distributed.destroy_process_group()
        return taken
    except RuntimeError:
        return -1


def by_events(torch, give, repeats, inner=1):
    """nanoseconds of the device for what `give` queues, each time"""
    times = []
    for _ in range(repeats + 1):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(inner):
            give()
        end.record()
        end.synchronize()
        times.append(max(1, round(begin.elapsed_time(end) * 1e6 / inner)))
    return times[1:]


def rate(key, amount, times):
    return {key: round(amount * 1e9 / statistics.median(times)),
            key + "_spread": [round(amount * 1e9 / max(times)), round(amount * 1e9 / min(times)), len(times)]}


def rates(torch, repeats):
    """of PyTorch's own kernels: a copy's traffic, square products"""
    free = torch.cuda.mem_get_info()[0]
    elements = min(512 * MIB, free // 8) // 4
    source, target = torch.zeros(elements, device="cuda"), torch.zeros(elements, device="cuda")
    found = rate("bytes_per_s", 2 * 4 * elements, by_events(torch, lambda: target.copy_(source), repeats))
    del source, target
    side, flops = (8192 if free > 4 * 8192 * 8192 * 4 else 2048), {}
    for name, dtype in (("fp32", torch.float32), ("tf32", torch.float32), ("fp16", torch.float16), ("bf16", torch.bfloat16)):
        torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
        a, b = (torch.zeros(side, side, device="cuda", dtype=dtype) for _ in range(2))
        flops.update(rate(name, 2 * side**3, by_events(torch, lambda a=a, b=b: torch.mm(a, b), repeats)))
    torch.backends.cuda.matmul.allow_tf32 = False
    return {**found, "flops_per_s": flops, "flops_by": "pytorch"}


def operator_times(torch, repeats):
    """the host's time for an operator in a loop of PyTorch, and the shortest kernel"""
    x, host = torch.zeros(64, device="cuda"), []
    for _ in range(repeats + 1):
        torch.cuda.synchronize()
        begin = time.perf_counter_ns()
        for _ in range(200):
            x.add_(1)
        host.append((time.perf_counter_ns() - begin) // 200)
    # Long work before them lets the host run ahead, so that the kernels follow one another.
    long = torch.zeros(256 * MIB // 4, device="cuda")

    def give():
        x.add_(1)

    kernel = []
    for _ in range(repeats):
        for _ in range(20):
            long.add_(1)
        kernel += by_events(torch, give, 1, inner=100)
    return {**spread("host_op_ns", host[1:]), **spread("kernel_ns", kernel)}


def workspaces(torch):
    """what PyTorch's choice among cuDNN's algorithms asks its allocator for"""
    rows, aten = [], torch.ops.aten
    for dtype in (torch.float32, torch.float16):
        for batch in (1, 32, 256):
            for channels in (64, 256, 1024):
                side = 4096 // channels * 2  # pictures shrink as channels grow
                for which, name in enumerate(("forward", "input", "weight")):
                    try:
                        taken = workspace(torch, aten, dtype, batch, channels, side, which)
                    except torch.cuda.OutOfMemoryError:
                        continue
                    rows.append({"pass": name, "dtype": str(dtype).partition(".")[2], "batch": batch, "channels": channels, "side": side,
                                 "bytes": taken})
                    torch.cuda.empty_cache()
    return rows


def workspace(torch, aten, dtype, batch, channels, side, which):
    picture = torch.zeros(batch, channels, side, side, device="cuda", dtype=dtype)
    weight = torch.zeros(channels, channels, 3, 3, device="cuda", dtype=dtype)
    ones, grad = [1, 1], picture
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    if which == 0:
        kept = torch.conv2d(picture, weight, None, ones, ones)
    else:
        wanted = [which == 1, which == 2, False]
        kept = aten.convolution_backward(grad, picture, weight, None, ones, ones, ones, False, [0, 0], 1, wanted)
    peak, after = torch.cuda.max_memory_allocated(), torch.cuda.memory_allocated()
    del kept
    return max(0, peak - max(after, before))


def probe(torch, repeats):
    began = time.perf_counter_ns()
    properties = torch.cuda.get_device_properties(0)
    nvml = Nvml(str(properties.uuid))
    runtime = loaded("libcudart.so")
    free, total = torch.cuda.mem_get_info()  # makes the context
    own, others = nvml.own_bytes(), nvml.others()
    context = own if own else total - free if others == 0 else -1
    found = {
        "schema_version": 2, "kind": "probe", "by": "pytorch", "device": properties.name,
        "compute_capability": "%d.%d" % (properties.major, properties.minor), "sm_count": properties.multi_processor_count,
        "pretend": hasattr(runtime, "fakecuda_note"),
        "given_times": bool(hasattr(runtime, "fakecuda_has_rates") and runtime.fakecuda_has_rates()),
        "total_bytes": properties.total_memory, "driver": nvml.driver(), "cuda": torch.version.cuda, "pytorch": torch.__version__,
        "context_bytes": context, "context_by": "nvml" if own else "free memory" if others == 0 else "not told",
        "gone_bytes": total - free, "other_processes": others,
    }
    stages = Stages(torch, nvml)
    x = torch.zeros(64, 64, device="cuda")
    found["first_kernel_bytes"] = stages.take()
    torch.mm(x, x)
    torch.nn.functional.linear(x, x, x[0])  # by cuBLASLt
    found["cublas_bytes"] = stages.take()
    torch.conv2d(x.view(1, 64, 8, 8), torch.zeros(64, 64, 3, 3, device="cuda"))
    found["cudnn_bytes"] = stages.take() if torch.backends.cudnn.is_available() else -1
    found["nccl_bytes"] = nccl_bytes(torch, stages)
    found["cudnn_workspaces"] = workspaces(torch) if torch.backends.cudnn.is_available() else []
    torch.cuda.empty_cache()
    found.update(memory_calls(torch, repeats))
    found.update(operator_times(torch, repeats))
    found.update(rates(torch, repeats))
    found.update(other_processes_after=nvml.others(), date=datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"), repeats=repeats,
                 took_ns=time.perf_counter_ns() - began)
    return found


def main():
    parser = argparse.ArgumentParser(prog="probe.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", metavar="OUT")
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args()
    if not sys.platform.startswith("linux"):
        print("probe: Linux is needed; on Windows measure under WSL 2", file=sys.stderr)
        return 77
    try:
        import torch  # noqa: PLC0415  where it is not there, the message is ours
    except ImportError:
        print("probe: this Python has no PyTorch", file=sys.stderr)
        return 77
    if not torch.cuda.is_available():
        print("probe: no CUDA device", file=sys.stderr)
        return 77
    try:
        torch.cuda.init()
        found = probe(torch, max(1, options.repeats))
    except (Failed, RuntimeError) as error:
        print("probe: %s" % str(error).partition("\n")[0], file=sys.stderr)
        return 1
    with open(options.out, "w", encoding="utf-8") as file:
        json.dump(found, file, indent=1)
        file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
