#!/usr/bin/env python3
"""Times of kernels out of what users already have, as the table that 'calibrate --kernels' reads: kernel_times.py TRACE OUT.kernels.csv

TRACE: a trace of torch.profiler (.json, .json.gz; record_shapes=True, or products and convolutions cannot be told) or nsys's export
(.sqlite; kernels are told by name, their work is not, so that only copies count). OUT.json beside it says which card it was.
Exit codes: 0 done, 2 it holds no kernel whose work is known.
"""
import csv
import datetime
import gzip
import json
import math
import os
import sqlite3
import statistics
import sys

COLUMNS = ["kind", "precision", "flops", "bytes", "op", "by", "workspace_bytes", "ns", "least_ns", "most_ns", "repeats", "kernel"]
PRECISION = {"float": "fp32", "c10::Half": "fp16", "c10::BFloat16": "bf16", "double": "fp64"}
WIDTH = {"fp32": 4, "tf32": 4, "fp16": 2, "bf16": 2, "fp64": 8}
PRODUCTS = {"aten::mm": (0, 1), "aten::addmm": (1, 2), "aten::bmm": (0, 1), "aten::baddbmm": (1, 2)}
FORWARD = ("aten::cudnn_convolution", "aten::conv2d", "aten::_convolution")
POINTWISE = {"aten::add_": 3, "aten::add": 3, "aten::mul": 3, "aten::mul_": 3, "aten::copy_": 2, "aten::relu": 2, "aten::gelu": 2, "aten::div_": 2}


class NoKernels(Exception):
    """nothing in it tells how much work a kernel did"""


def product(dims, types, which):
    a, b = (dims[i] for i in which)
    if len(a) < 2 or len(a) != len(b) or a[-1] != b[-2]:
        return None
    count = math.prod(a[:-2])
    n = [count * a[-2] * a[-1], count * b[-2] * b[-1], count * a[-2] * b[-1]]
    precision = PRECISION.get(types[which[0]])
    return precision and ("matmul", precision, 2 * count * a[-2] * a[-1] * b[-1], sum(n) * WIDTH[precision])


def convolution(event, dims, types):
    """forward: what comes out follows from the settings that the profiler keeps beside the shapes"""
    x, w, args = dims[0], dims[1], event["args"].get("Concrete Inputs") or []
    precision = PRECISION.get(types[0])
    settings = [json.loads(a) for a in args if isinstance(a, str) and a.startswith("[") and a.endswith("]")]
    if not precision or len(x) != len(w) or len(x) < 3 or len(settings) < 3:
        return None
    by_name = dict(zip(("padding", "stride", "dilation"), settings)) if event["name"] == FORWARD[0] else \
        dict(zip(("stride", "padding", "dilation"), settings))
    out = [(s + 2 * p - d * (k - 1) - 1) // t + 1 for s, k, p, t, d in
           zip(x[2:], w[2:], by_name["padding"], by_name["stride"], by_name["dilation"])]
    made = x[0] * w[0] * math.prod(out)
    return "convolution", precision, 2 * made * math.prod(w[1:]), (math.prod(x) + math.prod(w) + made) * WIDTH[precision]


def attention(dims, types):
    """products of queries and keys, and of weights and values"""
    q, k = dims[0], dims[1]
    precision = PRECISION.get(types[0])
    if not precision or len(q) != 4 or len(k) != 4:
        return None
    return "attention", precision, 4 * math.prod(q) * k[2], (2 * math.prod(q) + 2 * math.prod(k)) * WIDTH[precision]


def work_of(event):
    """kind, precision, operations and bytes of an operator, None where they are not told"""
    dims, types = event["args"].get("Input Dims") or [], event["args"].get("Input type") or []
    name = event["name"]
    if not dims or not types:
        return None
    if name in PRODUCTS:
        return product(dims, types, PRODUCTS[name])
    if name in FORWARD:
        return convolution(event, dims, types)
    if name in ("aten::_scaled_dot_product_flash_attention", "aten::_scaled_dot_product_efficient_attention",
                "aten::_scaled_dot_product_cudnn_attention"):
        return attention(dims, types)
    if name in POINTWISE and types[0] in PRECISION:
        precision = PRECISION[types[0]]
        return "elementwise", precision, 0, POINTWISE[name] * math.prod(dims[0]) * WIDTH[precision]
    return None


def tf32(work, kernels):
    """cuBLAS and cuDNN say in a kernel's name that they round fp32 to TF32"""
    names = " ".join(kernels).lower()
    return ("tf32",) if work[1] == "fp32" and ("tf32" in names or "s1688" in names) else (work[1],)


def from_profiler(path):
    with (gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="utf-8")) as file:
        trace = json.load(file)
    kernels, operators = {}, {}
    for event in trace["traceEvents"]:
        number = (event.get("args") or {}).get("External id")
        if event.get("cat") == "kernel" and number is not None:
            kernels.setdefault(number, []).append((event["name"], round(event["dur"] * 1000)))
        elif event.get("cat") == "cpu_op" and number is not None:
            operators[number] = event
    found = {}
    for number, parts in kernels.items():
        event = operators.get(number)
        work = event and work_of(event)
        if not work:
            continue
        kind, _, flops, size = work
        key = (kind, *tf32(work, [name for name, _ in parts]), flops, size, event["name"].split("::")[-1])
        found.setdefault(key, []).append(sum(ns for _, ns in parts))
    card = (trace.get("deviceProperties") or [{}])[0]
    about = {"device": card.get("name", ""), "compute_capability": "%s.%s" % (card.get("computeMajor", 0), card.get("computeMinor", 0)),
             "torch": trace.get("pytorch_version", ""), "driver": "", "cuda": str(trace.get("cuda_runtime_version", ""))}
    return found, about


def from_nsys(path):
    """copies on the device, with their bytes; the names of kernels do not tell their work"""
    with sqlite3.connect("file:%s?mode=ro" % path, uri=True) as db:
        on_device = 8  # CUPTI_ACTIVITY_MEMCPY_KIND_DTOD
        rows = db.execute("SELECT bytes, end - start FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind = ?", (on_device,)).fetchall()
        name, major, minor = db.execute("SELECT name, computeMajor, computeMinor FROM TARGET_INFO_GPU LIMIT 1").fetchone()
    found = {}
    for size, ns in rows:
        found.setdefault(("copy_d2d", "fp32", 0, 2 * size, "copy_"), []).append(ns)
    return found, {"device": name, "compute_capability": "%s.%s" % (major, minor), "torch": "", "driver": "", "cuda": ""}


def main():
    path, out = sys.argv[1:3]
    try:
        found, about = from_nsys(path) if path.endswith(".sqlite") else from_profiler(path)
        if not found:
            raise NoKernels("no kernel in it tells its work; profile with record_shapes=True")
    except (NoKernels, OSError, ValueError, KeyError, TypeError, sqlite3.Error) as error:
        print("%s: %s" % (path, error), file=sys.stderr)
        return 2
    with open(out, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for (kind, precision, flops, size, op), times in sorted(found.items()):
            writer.writerow([kind, precision, flops, size, op, "pytorch", "", round(statistics.median(times)), min(times), max(times), len(times), ""])
    when = datetime.datetime.fromtimestamp(os.path.getmtime(path), datetime.timezone.utc)
    with open(out[:-len(".kernels.csv")] + ".json", "w", encoding="utf-8") as file:
        json.dump({"kind": "measured", "provenance": {**about, "date": when.strftime("%Y-%m-%d"), "pretend": False}}, file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
