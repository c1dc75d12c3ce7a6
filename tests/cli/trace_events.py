"""Whether a file is what the trace-event format asks for, as ui.perfetto.dev and chrome://tracing read it."""

import collections


def problems(document):
    """What is wrong with a parsed trace, at most 20 lines."""
    found = []
    events = document.get("traceEvents")
    if not isinstance(events, list) or not events:
        return ["no traceEvents"]
    named, stacks, last = set(), collections.defaultdict(list), {}
    slices, flows, ended = collections.defaultdict(list), {}, set()
    for i, event in enumerate(events):
        ph, pid, tid, ts = (event.get(key) for key in ("ph", "pid", "tid", "ts"))
        row = (pid, tid)
        if ph == "M":
            named.add((pid,) if event["name"] == "process_name" else row)
            if not event["args"].get("name"):
                found.append(f"{i}: metadata without a name")
            continue
        if not isinstance(pid, int) or not isinstance(ts, (int, float)) or ts < 0:
            found.append(f"{i}: pid {pid}, ts {ts}")
            continue
        if (pid,) not in named or (ph != "C" and row not in named):
            found.append(f"{i}: process or thread {row} has no name")
        if ph in "BEX" and ts < last.get((row, ph in "BE"), 0):
            found.append(f"{i}: {ph} at {ts} goes back in time")
        last[(row, ph in "BE")] = ts
        if ph == "B":
            stacks[row].append(event)
        elif ph == "E":
            if not stacks[row] or stacks[row].pop()["ts"] > ts:
                found.append(f"{i}: an end without a begin")
        elif ph == "X":
            if event["dur"] <= 0 or (slices[row] and slices[row][-1][1] > ts + 1e-9):
                found.append(f"{i}: slice at {ts} of {event['dur']} overlaps {slices[row][-1:]}")
            slices[row].append((ts, ts + event["dur"]))
        elif ph == "C":
            if not event["args"] or not all(isinstance(value, int) and value >= 0 for value in event["args"].values()):
                found.append(f"{i}: counter {event['args']}")
        elif ph in "sf":
            key = (event["cat"], event["name"], event["id"])
            if not slices[row] or not slices[row][-1][0] <= ts <= slices[row][-1][1]:
                found.append(f"{i}: a flow that lies in no slice")
            if ph == "s":
                if key in flows:
                    found.append(f"{i}: flow {key} begins twice")
                flows[key] = ts
            elif key not in flows or key in ended or flows[key] > ts or event.get("bp") != "e":
                found.append(f"{i}: flow {key} ends without a begin")
            else:
                ended.add(key)
        elif ph == "i":
            if event.get("s") not in ("t", "p", "g"):
                found.append(f"{i}: an instant of scope {event.get('s')}")
        else:
            found.append(f"{i}: ph {ph}")
    found += [f"{row}: {len(open_)} slices never end" for row, open_ in stacks.items() if open_]
    return found[:20]
