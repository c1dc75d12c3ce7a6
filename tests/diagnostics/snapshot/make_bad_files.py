#!/usr/bin/env python3
"""Writes memory snapshots that are damaged, hostile or something else altogether, one file each.

    make_bad_files.py FOLDER

Each file must be refused with the message that expected.txt, beside this script, gives for it. Nothing here is
unpickled; the files are never to be opened by Python's own pickle."""
import gzip
import io
import json
import os
import pickle
import struct
import sys
import zipfile

MIB = 1 << 20


def good():
    """A small snapshot as PyTorch 2.11 writes it."""
    frames = [{"name": "forward", "filename": "model.py", "line": 12}, {"name": "main", "filename": "train.py", "line": 3}]
    a, b = 0x7F0000000000, 0x7F0000000200
    trace = []
    time = 1763324225770003
    for action, addr, size in (("segment_alloc", a, 2 * MIB), ("alloc", a, 100), ("alloc", b, 300),
                               ("free_requested", a, 100), ("free_completed", a, 100)):
        time += 7
        trace.append({"action": action, "addr": addr, "size": size, "stream": 0, "time_us": time,
                      "compile_context": "N/A", "user_metadata": "", "frames": frames})
    segment = {"device": 0, "address": a, "total_size": 2 * MIB, "allocated_size": 512, "active_size": 512,
               "requested_size": 300, "stream": 0, "segment_type": "small", "segment_pool_id": (0, 0),
               "is_expandable": False, "frames": frames,
               "blocks": [{"address": a, "size": 512, "requested_size": 100, "state": "inactive", "frames": []},
                          {"address": b, "size": 512, "requested_size": 300, "state": "active_allocated", "frames": frames},
                          {"address": b + 512, "size": 2 * MIB - 1024, "requested_size": 0, "state": "inactive",
                           "frames": []}]}
    settings = {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, "garbage_collection_threshold": 0.0,
                "expandable_segments": False, "roundup_power2_divisions": {str(1 << i): 0 for i in range(16)}}
    return {"segments": [segment], "device_traces": [trace], "allocator_settings": settings,
            "external_annotations": [{"name": "step", "stage": "START", "device": 0, "time_us": 1763324225770003}]}


def changed(change, protocol=4):
    snapshot = good()
    result = change(snapshot)
    return pickle.dumps(snapshot if result is None else result, protocol)


def event(**fields):
    return changed(lambda s: s["device_traces"][0][1].update(fields))


def without(table, key):
    def change(s):
        row = {"event": s["device_traces"][0][1], "segment": s["segments"][0],
               "block": s["segments"][0]["blocks"][1], "annotation": s["external_annotations"][0]}[table]
        del row[key]
    return changed(change)


def segment(**fields):
    return changed(lambda s: s["segments"][0].update(fields))


def block(index, **fields):
    return changed(lambda s: s["segments"][0]["blocks"][index].update(fields))


class Call:
    """Pickles as a call."""

    def __init__(self, function, *args):
        self.call = (function, args)

    def __reduce__(self):
        return self.call


class State:
    def __init__(self):
        self.x = 1


def add_to_trace(thing, protocol=4):
    return changed(lambda s: s["device_traces"][0].append(thing), protocol)


P4 = b"\x80\x04"


def zip_file():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr(zipfile.ZipInfo("archive/data.pkl", (2026, 1, 1, 0, 0, 0)), b"\x80\x02}q\x00.")
        z.writestr(zipfile.ZipInfo("archive/data/0", (2026, 1, 1, 0, 0, 0)), b"\0" * 64)
    return out.getvalue()


def old_checkpoint():
    return pickle.dumps(0x1950A86A20F9469CFC6C, 2) + pickle.dumps(1001, 2) + pickle.dumps({"w": [1, 2]}, 2)


def nested(open_one, depth, close_one):
    return P4 + open_one * depth + close_one * depth + b"."


def memo_bomb():
    """Lists of lists: 2^40 items were they unfolded."""
    out = [P4, b"(]\x94"]
    for level in range(40):
        out.append(b"]\x94(h" + bytes([level]) + b"h" + bytes([level]) + b"e")
    return b"".join(out) + b"t."


def bomb(start, pattern, count):
    raw = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as f:
        f.write(P4 + start)
        chunk = pattern * (MIB // len(pattern))
        for _ in range(count):
            f.write(chunk)
    return raw.getvalue()


def cyclic():
    s = good()
    s["segments"].append(s)
    return pickle.dumps(s, 4)


def shared_blocks(s):
    other = dict(s["segments"][0])
    s["segments"].append(other)


def overlapping(s):
    other = dict(s["segments"][0], address=s["segments"][0]["address"] + MIB)
    other["blocks"] = [{"address": other["address"], "size": 2 * MIB, "requested_size": 0, "state": "inactive",
                        "frames": []}]
    s["segments"].append(other)


def two_bad_segments(s):
    for i in range(2):
        base = s["segments"][0]["address"] + (i + 1) * 4 * MIB
        s["segments"].append(dict(s["segments"][0], address=base, blocks=[
            {"address": base, "size": MIB, "requested_size": 0, "state": "inactive", "frames": []}]))


def cases():
    whole = pickle.dumps(good(), 4)
    packed = gzip.compress(whole, mtime=0)
    yield "empty", b""
    yield "one_byte", b"\x80"
    yield "protocol_only", P4
    for tenth in (1, 3, 5, 7, 9):
        yield f"truncated_{tenth}", whole[:len(whole) * tenth // 10]
    yield "truncated_last_byte", whole[:-1]
    yield "trailing_bytes", whole + b"\0\0"
    yield "two_pickles", whole + whole
    yield "gzip_truncated", packed[:len(packed) // 2]
    yield "gzip_damaged", packed[:40] + bytes([packed[40] ^ 0xFF]) + packed[41:]
    yield "gzip_checksum", packed[:-8] + b"\0\0\0\0" + packed[-4:]
    yield "gzip_trailing", packed + b"junk"
    yield "gzip_empty", gzip.compress(b"", mtime=0)
    yield "gzip_bomb", bomb(b"}", b"(u", 80)
    yield "gzip_twice", gzip.compress(packed, mtime=0)
    yield "checkpoint_zip", zip_file()
    yield "checkpoint_old", old_checkpoint()
    yield "json", json.dumps({"segments": []}).encode()
    yield "json_list", b'[{"segments": []}]'
    yield "request_trace", b"tidemark-trace 1\nalloc 1 512\n"
    yield "zstd", b"\x28\xb5\x2f\xfd" + b"\0" * 20
    yield "xz", b"\xfd7zXZ\0" + b"\0" * 20
    yield "bzip2", b"BZh9" + b"\0" * 20
    yield "text", b"hello, world\n"
    yield "zeros", b"\0" * 4096
    yield "elf", b"\x7fELF" + b"\0" * 60
    yield "protocol_0", pickle.dumps(good(), 0)
    yield "protocol_1", pickle.dumps(good(), 1)
    yield "protocol_9", b"\x80\x09" + whole[2:]
    # Hostile: what would run code, each way that a pickle has.
    yield "global", P4 + b"cos\nsystem\n\x8c\x02id\x85R."
    yield "global_protocol_2", add_to_trace(Call(os.system, "echo hello"), 2)
    yield "stack_global", add_to_trace(Call(os.system, "echo hello"))
    yield "stack_global_bare", P4 + b"\x93."
    yield "inst", P4 + b"(ios\nsystem\n."
    yield "object", add_to_trace(State())
    yield "reduce", P4 + b"NNR."
    yield "build", P4 + b"}}b."
    yield "newobj", P4 + b"N)\x81."
    yield "obj", P4 + b"(No."
    yield "extension", P4 + b"\x82\x01."
    yield "persistent_id", P4 + b"Q."
    yield "persistent_text", P4 + b"Pabc\n."
    yield "next_buffer", P4 + b"\x97."
    yield "global_unprintable", P4 + b"c\x1b[31mred\nname\n."
    yield "global_endless", P4 + b"c" + b"a" * 4096
    # Things that plain data may hold and snapshots do not.
    yield "bytes", add_to_trace(b"abc")
    yield "set", add_to_trace({1, 2})
    yield "frozenset", add_to_trace(frozenset([1]))
    yield "bytearray", changed(lambda s: s["device_traces"][0].append(bytearray(b"x")), 5)
    yield "complex", add_to_trace(1j)
    # Lengths and depths.
    yield "text_of_a_gigabyte", P4 + b"X" + struct.pack("<I", 10**9) + b"abc"
    yield "text_of_exabytes", P4 + b"\x8d" + struct.pack("<Q", 10**18) + b"abc"
    yield "text_cut", P4 + b"X" + struct.pack("<I", 1000) + b"abc"
    yield "integer_of_a_gigabyte", P4 + b"\x8b" + struct.pack("<I", 10**9)
    yield "integer_cut", P4 + b"\x8a\x08abc"
    yield "frame_endless", P4 + b"\x95" + b"\xff" * 8 + b"N."
    yield "frame_in_frame", P4 + b"\x95" + struct.pack("<Q", 50) + b"\x95" + struct.pack("<Q", 4) + b"N."
    yield "frame_empty", P4 + b"\x95" + b"\0" * 8 + b"N."
    yield "deep_lists", nested(b"](", 100000, b"e")
    yield "deep_dicts", nested(b"}(\x8c\x01a", 100000, b"u")
    yield "deep_tuples", nested(b"(", 100000, b"t")
    yield "deep_single_tuples", P4 + b"N" + b"\x85" * 100000 + b"."
    yield "memo_bomb", memo_bomb()
    yield "memo_jump", P4 + b"Nr\xff\xff\xff\x7f."
    yield "memo_unset", P4 + b"h\x05."
    yield "memo_unset_long", P4 + b"j\xff\xff\xff\xff."
    yield "memo_twice", P4 + b"Nq\x00q\x00."
    yield "memo_of_nothing", P4 + b"\x94."
    yield "cyclic", cyclic()
    yield "cyclic_list", P4 + b"]\x94(h\x00h\x00e."
    # Opcodes out of place.
    yield "unknown_opcode", P4 + b"\xff."
    yield "end_without_mark", P4 + b"]Ne."
    yield "items_without_list", P4 + b"(Ne."
    yield "append_to_nothing", P4 + b"Na."
    yield "set_item_to_nothing", P4 + b"NNs."
    yield "append_to_none", P4 + b"NNa."
    yield "odd_dict", P4 + b"}(NNNu."
    yield "list_as_dict", P4 + b"](NNu."
    yield "dict_as_list", P4 + b"}(NNe."
    yield "tuple_of_nothing", P4 + b"N\x87."
    yield "tuple_across_mark", P4 + b"NN(N\x86."
    yield "stop_in_container", P4 + b"](N."
    yield "stop_with_nothing", P4 + b"."
    yield "stop_with_two", P4 + b"NN."
    yield "pop", P4 + b"N0."
    yield "duplicate", P4 + b"N2."
    # Plain data that is no snapshot.
    yield "none", pickle.dumps(None, 4)
    yield "number", pickle.dumps(17, 4)
    yield "dict", pickle.dumps({"weights": [1, 2, 3]}, 4)
    yield "list", pickle.dumps([1, 2, 3], 4)
    yield "history_alone", pickle.dumps(good()["device_traces"], 4)
    yield "segments_missing", changed(lambda s: s.pop("segments") and None)
    yield "segments_number", changed(lambda s: s.update(segments=3))
    yield "segments_of_texts", changed(lambda s: s.update(segments=["a", "b"]))
    yield "traces_text", changed(lambda s: s.update(device_traces="none"))
    yield "traces_flat", changed(lambda s: s.update(device_traces=s["device_traces"][0]))
    yield "traces_of_blocks", changed(lambda s: s.update(device_traces=[s["segments"][0]["blocks"]]))
    yield "devices_129", changed(lambda s: s.update(device_traces=[[] for _ in range(129)]))
    # Entries that are wrong.
    for key in ("addr", "size"):
        yield f"event_without_{key}", without("event", key)
    for key in ("address", "total_size", "segment_type", "blocks"):
        yield f"segment_without_{key}", without("segment", key)
    yield "block_without_size", without("block", "size")
    yield "event_action_number", event(action=3)
    yield "event_size_text", event(size="100")
    yield "event_size_negative", event(size=-1)
    yield "event_size_huge", event(size=10**19)
    yield "event_size_float", event(size=1.5)
    yield "event_addr_none", event(addr=None)
    yield "event_time_text", event(time_us="now")
    yield "event_stream_negative", event(stream=-7)
    yield "event_streams_5000", changed(lambda s: s["device_traces"][0].extend(
        dict(s["device_traces"][0][1], stream=i) for i in range(1, 5001)))
    yield "event_repeated", changed(lambda s: s["device_traces"][0].append(s["device_traces"][0][0]))
    yield "segment_type_unknown", segment(segment_type="medium")
    yield "segment_device_huge", segment(device=1000)
    yield "segment_pool_huge", changed(lambda s: s["segments"][0].update(segment_pool_id=(0, -1)))
    yield "segment_blocks_number", segment(blocks=4)
    yield "segment_too_large", segment(total_size=4 * MIB)
    yield "segment_too_small", segment(total_size=MIB)
    yield "segment_without_blocks", segment(blocks=[])
    yield "segments_share_blocks", changed(shared_blocks)
    yield "segments_overlap", changed(overlapping)
    yield "segments_bad_twice", changed(two_bad_segments)
    yield "block_state_unknown", block(1, state="asleep")
    yield "block_state_number", block(1, state=1)
    yield "block_size_text", block(1, size="512")
    yield "block_size_huge", block(1, size=2**54)
    yield "block_elsewhere", block(1, address=0x7F0000000300)
    yield "block_request_too_large", block(1, requested_size=600)
    yield "frame_name_number", changed(lambda s: s["segments"][0]["frames"][0].update(name=7))


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(folder):
        os.remove(os.path.join(folder, name))
    with open(os.path.join(folder, "good.pickle"), "wb") as f:
        f.write(pickle.dumps(good(), 4))
    for name, content in cases():
        with open(os.path.join(folder, name + ".bad"), "wb") as f:
            f.write(content)


main()
