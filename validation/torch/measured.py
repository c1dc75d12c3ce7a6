"""What a run under the real PyTorch did, and its form as files: docs/formats/measured.md."""

import csv
import ctypes
import datetime
import gzip
import io
import json
import os
import platform
import re

import torch

MARKS = ("at::_ops::", "torch::autograd::generated::")


def write_gz(path, text):
    """no name and no time inside, so that equal text is equal bytes"""
    with open(path, "wb") as file, gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=9, mtime=0) as out:
        out.write(text.encode())


def operation(frames, own):
    """who made a request: the innermost line of the program itself, and PyTorch's operators, outermost first"""
    place, chain = "", []
    for frame in frames:
        name, file = frame["name"], frame["filename"]
        if not place and file in own:
            place = "%s:%d" % (os.path.basename(file), frame["line"])
        for mark in MARKS:
            word = name.split(mark, 1)[1].split("(")[0].split("::")[0] if mark in name else ""
            if word and word not in chain:
                chain.append(word)
    return " ".join(w for w in (place, ">".join(reversed(chain))) if w)


class Streams:
    """streams by their number in the order of their handles, the default one 0"""

    def __init__(self, traces):
        handles = sorted({e["stream"] for trace in traces for e in trace} - {0})
        self.number = {0: 0, **{h: i + 1 for i, h in enumerate(handles)}}


def rows_of(traces, own=()):
    """the columns of an event trace, and `device`, `phase`, `op`"""
    streams = Streams(traces).number
    for device, trace in enumerate(traces):
        live, next_id, phase = {}, 0, ""
        for e in trace:
            action, address = e["action"], e.get("addr", e.get("device_free", 0))
            if action == "snapshot":  # where the program took one: nothing that the allocator does
                continue
            phase = e.get("user_metadata") or phase
            request = ""
            if action in ("alloc", "oom"):
                request, next_id = next_id, next_id + 1
                if action == "alloc":
                    live[address] = request
            elif action == "free_requested":
                request = live.get(address, "")
            elif action == "free_completed":
                request = live.pop(address, "")
            yield [action, address, e["size"], streams[e["stream"]], request, device, phase, operation(e.get("frames") or [], own)]


def events_csv(traces, own=()):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["index", "action", "address", "bytes", "stream", "id"] + (["device"] if len(traces) > 1 else []) + ["phase", "op"])
    for index, row in enumerate(rows_of(traces, own)):
        writer.writerow([index] + row[:5] + ([row[5]] if len(traces) > 1 else []) + row[6:])
    return out.getvalue()


def version_in(text):
    """"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build", or without Open and with another order"""
    found = re.search(r"(?<![\w.])\d{3,}\.\d+(\.\d+)?(?![\w.])", text)
    return found.group() if found else ""


def driver_version():
    try:
        with open("/proc/driver/nvidia/version", encoding="utf-8") as file:
            return version_in(file.readline())
    except OSError:  # under WSL, in some containers: NVML knows it too
        return nvml_driver_version()


def nvml_driver_version():
    text = ctypes.create_string_buffer(96)
    try:
        library = ctypes.CDLL("libnvidia-ml.so.1")
        told = library.nvmlInit_v2() == 0 and library.nvmlSystemGetDriverVersion(text, len(text)) == 0
    except (OSError, AttributeError):
        return ""
    return text.value.decode() if told else ""


def cudnn_version():
    """0 where this card is too old for it"""
    try:
        return torch.backends.cudnn.version() or 0
    except RuntimeError:
        return 0


def provenance(command):
    """where figures come from"""
    properties = torch.cuda.get_device_properties(0)
    return {"device": properties.name, "compute_capability": "%d.%d" % (properties.major, properties.minor),
            "pretend": pretend(), "driver": driver_version(), "torch": torch.__version__, "cuda": torch.version.cuda or "",
            "cudnn": cudnn_version(), "python": platform.python_version(),
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"), "command": command}


def pretend():
    """whether the CUDA underneath is the pretend one"""
    with open("/proc/self/maps", encoding="utf-8") as file:
        libraries = {line.split()[-1] for line in file if "libcudart" in line}
    return any(hasattr(ctypes.CDLL(library), "fakecuda_note") for library in libraries)


def figures(device):
    """the amounts of one device now and at their highest"""
    stats = {k: int(v) for k, v in torch.cuda.memory_stats(device).items()}
    free, total = torch.cuda.mem_get_info(device)
    outside = total - free - stats.get("reserved_bytes.all.current", 0)
    reserved = stats.get("reserved_bytes.all.peak", 0)
    return {"total_bytes": total, "outside_bytes": outside, "peak_allocated_bytes": stats.get("allocated_bytes.all.peak", 0),
            "peak_reserved_bytes": reserved, "device_total_bytes": reserved + outside, "stats": stats}


def write(folder, name, traces, ended_by, command, own=()):
    """NAME.json and NAME.events.csv.gz in `folder`"""
    os.makedirs(folder, exist_ok=True)
    write_gz(os.path.join(folder, name + ".events.csv.gz"), events_csv(traces, own))
    answer = {"schema_version": 1, "kind": "measured", "name": name, "provenance": provenance(command), **ended_by,
              "devices": [figures(d) for d in range(len(traces))]}
    with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as file:
        json.dump(answer, file, indent=1)
        file.write("\n")
