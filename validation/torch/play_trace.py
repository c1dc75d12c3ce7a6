#!/usr/bin/env python3
"""Plays a request trace (.tmt, docs/formats/tmt.md) through PyTorch's own allocator.

    play_trace.py TRACE OUT [NAME]     OUT gets NAME.events.csv.gz and NAME.json; the allocator's settings come from PYTORCH_CUDA_ALLOC_CONF

Exit codes: 0 done, 2 the trace is wrong, 77 there is no CUDA device.
"""
import gzip
import json
import os
import pathlib
import sys

import torch

import measured

LARGEST_HISTORY = 10**7
MOST_STREAMS = 32  # PyTorch's pool holds so many: further ones are the first again


class WrongTrace(Exception):
    """what no request trace may hold"""


def requests_of(path):
    """verb, words and key=value pairs of every line"""
    data = pathlib.Path(path).read_bytes()
    text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()
    lines = [line.split("#", 1)[0].split() for line in text.splitlines()]
    lines = [words for words in lines if words]
    if not lines or lines[0] != ["tidemark-trace", "1"]:
        raise WrongTrace("%s: does not begin with 'tidemark-trace 1'" % path)
    for words in lines[1:]:
        if words[0] == "mark":
            yield "mark", words[1:], {}
            continue
        pairs = dict(w.split("=", 1) for w in words[1:] if "=" in w)
        yield words[0], [int(w) for w in words[1:] if "=" not in w], {k: int(v) for k, v in pairs.items()}


class Player:
    def __init__(self, requests):
        top = max([pairs.get("stream", 0) for _, _, pairs in requests] + [0])
        if top > MOST_STREAMS:
            raise WrongTrace("PyTorch has %d streams beside the default one, the trace uses stream %d" % (MOST_STREAMS, top))
        others = sorted((torch.cuda.Stream() for _ in range(top)), key=lambda stream: stream.cuda_stream)
        self.streams = [torch.cuda.default_stream()] + others
        self.pools = {p: torch.cuda.MemPool() for p in sorted({pairs["pool"] for _, _, pairs in requests if "pool" in pairs})}
        self.live, self.served, self.refused = {}, [], []

    def allocate(self, words, pairs):
        request, size = words
        if request in self.live:
            raise WrongTrace("alloc of the live ID %d" % request)
        with torch.cuda.stream(self.streams[pairs.get("stream", 0)]):
            try:
                if "pool" in pairs:
                    with torch.cuda.use_mem_pool(self.pools[pairs["pool"]]):
                        self.live[request] = torch.empty(size, dtype=torch.uint8, device="cuda")
                else:
                    self.live[request] = torch.empty(size, dtype=torch.uint8, device="cuda")
            except torch.cuda.OutOfMemoryError:
                self.refused.append(request)
                return
        if size:
            self.served.append(request)

    def play(self, requests):
        for verb, words, pairs in requests:
            if verb == "alloc":
                self.allocate(words, pairs)
            elif verb == "free":
                self.live.pop(words[0], None)
            elif verb == "use":
                if words[0] in self.live:
                    self.live[words[0]].record_stream(self.streams[pairs["stream"]])
            elif verb == "sync":
                self.streams[pairs["stream"]].synchronize() if "stream" in pairs else torch.cuda.synchronize()
            elif verb == "empty_cache":
                torch.cuda.empty_cache()
            elif verb == "mark":
                set_metadata = getattr(torch.cuda.memory, "_set_memory_metadata", None)  # from 2.11 on
                if set_metadata:
                    set_metadata(" ".join(words))
            elif verb == "reset_peak":
                torch.cuda.reset_peak_memory_stats()
            else:
                raise WrongTrace("unknown verb '%s'" % verb)


def main():
    path, out = sys.argv[1:3]
    name = sys.argv[3] if len(sys.argv) > 3 else os.path.basename(path).split(".")[0]
    if not torch.cuda.is_available():
        print("no CUDA device", file=sys.stderr)
        return 77
    try:
        requests = list(requests_of(path))
        torch.cuda.init()
        player = Player(requests)
        torch.cuda.memory._record_memory_history(enabled="all", context=None, stacks="python", max_entries=LARGEST_HISTORY)
        player.play(requests)
    except WrongTrace as error:
        print(error, file=sys.stderr)
        return 2
    traces = torch.cuda.memory._snapshot()["device_traces"][:1]
    ended = {"ended_by_oom": False, "oom_message": "", "error": ""}
    measured.write(out, name, traces, ended, "play_trace.py " + os.path.basename(path))
    with open(os.path.join(out, name + ".requests.json"), "w", encoding="utf-8") as file:
        json.dump({"served": len(player.served), "refused": player.refused}, file)
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
