#!/usr/bin/env python3
"""What `tidemark validate --all --report FILE` does: everything that a box can tell, and the tables of docs/trust.md for it.

    all.py TIDEMARK --report FILE [--minutes 55] [--device ID] [SCENARIO...]

Each scenario is simulated and run under the PyTorch at hand, and its plan executed by the harness where that is built; with a harness
the card is calibrated too. What was measured stays in FILE.results, each case once: after an interruption, or when the minutes are
over, the same command goes on where it stopped. After a whole run it begins anew, as a nightly job wants it. Exit codes: 0 all equal, 1 something differs, 75 not done yet, 77 nothing to measure with.
"""
import argparse
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
UNFINISHED, NOTHING = 75, 77


class Box:
    """where measurements are made, and what is kept of them"""

    def __init__(self, options):
        self.tidemark, self.folder = options.tidemark, pathlib.Path(options.report + ".results")
        self.deadline = time.monotonic() + 60 * options.minutes
        self.harness = os.environ.get("TIDEMARK_CUDA") or shutil.which("tidemark-cuda") or ""
        if self.whole().exists():
            shutil.rmtree(self.folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        about = os.stat(options.tidemark)
        self.release = "%d %d" % (about.st_size, about.st_mtime_ns)

    def whole(self):
        """is there once all was measured"""
        return self.folder / "whole"

    def out_of_time(self):
        return time.monotonic() > self.deadline

    def run(self, *words, seconds=None):
        """for `seconds`; not given, for as long as there is time"""
        try:
            done = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                                  timeout=seconds or max(1.0, self.deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(words, -1, "", "took longer than there was time for")
        return done

    def kept(self, name, key, make):
        """NAME.json of the folder where it was made for the same key and did not fail; else `make()`, a document or None, kept at once"""
        key = "%s %s" % (key, self.release)
        path = self.folder / (name + ".json")
        if path.exists():
            document = json.loads(path.read_text())
            if document["key"] == key and "error" not in document:
                return document
        if self.out_of_time():
            return None
        document = make()
        if document is None:
            return None
        document["key"] = key
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
            json.dump(document, file, indent=1)
        os.replace(file.name, path)
        return document


def card_at_hand(box):
    """(name, whether it is the pretend GPU) of the card that PyTorch sees, else ("", False)"""
    code = ("import sys; sys.path.insert(0, %r); import torch, measured; "
            "print(torch.cuda.get_device_name(0)); print(int(measured.pretend()))" % str(HERE))
    torch = os.environ.get("TIDEMARK_TORCH", "")
    program = os.path.join(torch, "run") if os.path.isdir(torch) else torch or shutil.which("python3")
    done = box.run(program, "-c", code, seconds=300)
    lines = done.stdout.splitlines()
    return (lines[-2], lines[-1] == "1") if done.returncode == 0 and len(lines) > 1 else ("", False)


def catalogue_id(box, name):
    devices = json.loads(box.run(box.tidemark, "devices", "--format", "json").stdout)
    return next((device["id"] for device in devices if device["name"] == name), None)


def key_of(scenario, words):
    """changes with the scenario, what lies beside it and the command"""
    digest = hashlib.sha256(" ".join(words).encode())
    for path in sorted(scenario.parent.glob("*.py")) + [scenario]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def compared(box, target, scenario, device):
    """the case of `tidemark validate --format json`; a document with "error" where it cannot be compared"""
    words = ["--against", target, *(["--device", device] if device else [])]

    def make():
        done = box.run(box.tidemark, "validate", scenario, *words, "--save", box.folder / target, "--format", "json")
        if done.returncode == NOTHING:
            return {"error": "no device: " + done.stderr.strip().splitlines()[-1]}
        if done.returncode < 0:
            return None
        if not done.stdout:
            return {"error": (done.stderr.strip().splitlines() or ["ended with %d" % done.returncode])[0]}
        case = json.loads(done.stdout)["cases"][0]
        case["step_ns"] = json.loads((box.folder / target / (case["name"] + ".json")).read_text()).get("step_ns")
        return case

    return box.kept("%s-%s" % (target, scenario.stem), key_of(scenario, words), make)


def told_step(box, scenario, device, calibration=None):
    """what `tidemark run` says of a step, with its band; None where it has no steps"""
    words = [*(["--device", device] if device else []), *(["--calibration", calibration] if calibration else [])]
    done = box.run(box.tidemark, "run", scenario, *words, "--format", "json", seconds=300)
    return json.loads(done.stdout).get("time", {}).get("step") if done.stdout else None


def calibrated(box, scenarios, device):
    """the calibration of this card by its probe and by the scenarios' own kernels, and what it says; None: not done"""
    file = box.folder / "calibration.yaml"

    def make():
        kernels = []
        for scenario in scenarios if box.harness else []:
            plan = box.folder / "plans" / (scenario.stem + ".plan")
            plan.parent.mkdir(exist_ok=True)
            if box.run(box.tidemark, "plan", scenario, "--device", device, "--out", plan).returncode == 0:
                done = box.run(box.harness, plan, "--out", box.folder / "kernels", "--kernels", "time")
                if done.returncode == 0:
                    kernels += ["--kernels", box.folder / "kernels" / (scenario.stem + ".kernels.csv")]
        # Inside PyTorch, where it is; else by tidemark-probe; else by the kernels alone.
        for words in (["--by", "pytorch", *kernels], ["--by", "probe", *kernels], kernels):
            done = box.run(box.tidemark, "calibrate", "--device", device, *words, "--out", file)
            if done.returncode != NOTHING:
                break
        if done.returncode < 0:
            return None
        if done.returncode != 0:
            return {"error": done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "calibrate ended with %d" % done.returncode}
        return {"receipt": done.stdout.splitlines()}

    return box.kept("calibration", " ".join([device, *(s.stem for s in scenarios)]), make)


def signed(ppm):
    return "-" if ppm is None else "0" if ppm == 0 else "%+.4f %%" % (ppm / 1e4)


def table(head, rows):
    rule = ["---"] + ["---:"] * (len(head) - 1)
    return ["| " + " | ".join(str(cell) for cell in row) + " |" for row in [head, rule, *rows]]


def case_rows(cases):
    for name, case in cases:
        if case is None:
            yield [name, "not measured yet", "", "", "", "", ""]
        elif "error" in case:
            yield [name, "not compared: " + case["error"], "", "", "", "", ""]
        else:
            verdict = "right" if case["oom_simulated"] == case["oom_measured"] else "WRONG"
            yield [name, case["events"], case["differing_events"],
                   *(signed(case[figure]["error_ppm"]) for figure in ("peak_allocated", "peak_reserved", "device_total")), verdict]


def rates(cases):
    done = [case for _, case in cases if case and "error" not in case]
    for figure, words in (("peak_reserved", "peaks of reserved memory"), ("device_total", "totals of the device")):
        errors = [case[figure]["error_ppm"] for case in done if case[figure]["error_ppm"] is not None]
        yield "- %s told too low: %d of %d" % (words, sum(e < 0 for e in errors), len(errors))
    yield "- wrong verdicts, fits or does not: %d of %d" % (sum(c["oom_simulated"] != c["oom_measured"] for c in done), len(done))


def time_rows(times):
    for name, measured, plain, after in times:
        if measured and plain:
            yield [name, "%.2f" % (measured / 1e6), "%.2f (%.2f to %.2f)" % tuple(plain[k] / 1e6 for k in ("ns", "low_ns", "high_ns")),
                   "%+.0f %%" % (100 * (plain["ns"] / measured - 1)), "%+.0f %%" % (100 * (after["ns"] / measured - 1)) if after else "-"]


def report(card, by_target, times, calibration, unfinished):
    cases = [case for found in by_target.values() for case in found]
    origins = [c["provenance"] for _, c in cases if c and "error" not in c]
    lines = ["# What this box says", ""]
    if origins:
        first = origins[0]
        lines += ["%s%s, driver %s, PyTorch %s, %s. Errors are signed: told less measured." %
                  (first["device"] or card, " (the pretend GPU: its times are those of its host)" if first["pretend"] else "",
                   first["driver"] or "not told", first["torch"], first["date"]), ""]
    if unfinished:
        lines += ["**Not done: %d of %d cases are not measured yet. The same command goes on.**" %
                  (sum(case is None for case in cases), len(cases)), ""]
    for target, found in by_target.items():
        what = {"torch": "PyTorch ran each scenario's own program", "cuda": "The harness executed each scenario's plan"}[target]
        lines += ["## %s" % what, "", *table(["case", "events", "differing", "allocated", "reserved", "device total", "verdict"],
                                             case_rows(found)), "", *rates(found), ""]
    rows = list(time_rows(times))
    if rows:
        lines += ["## Times of a step", "", *table(["case", "measured, ms", "told, ms", "error", "error, calibrated"], rows), ""]
    if calibration:
        lines += ["## The card, calibrated", "", *("    " + line for line in calibration.get("receipt", [calibration.get("error", "")])), ""]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(prog="tidemark validate --all")
    parser.add_argument("tidemark")
    parser.add_argument("scenarios", nargs="*", type=pathlib.Path)
    parser.add_argument("--report", required=True)
    parser.add_argument("--minutes", type=float, default=55)
    parser.add_argument("--device", default="")
    options = parser.parse_intermixed_args()
    box = Box(options)
    scenarios = options.scenarios or sorted((HERE.parent / "scenarios").glob("*.yaml"))
    card, is_pretend = card_at_hand(box)
    targets = (["torch"] if card else []) + (["cuda"] if box.harness else [])
    if not targets:
        print("nothing to measure with: set TIDEMARK_TORCH to a Python with PyTorch, TIDEMARK_CUDA to tidemark-cuda", file=sys.stderr)
        return NOTHING
    device = options.device or ("" if is_pretend else catalogue_id(box, card)) or ""
    if card and not device and not is_pretend:
        print("'%s' is no card of configs/devices; give --device, a file for it (docs/scenario.md)" % card, file=sys.stderr)
        return 2
    by_target = {}
    for target in targets:
        by_target[target] = []
        for scenario in scenarios:
            print("%s: %s" % (target, scenario.stem), file=sys.stderr, flush=True)
            by_target[target].append((scenario.stem, compared(box, target, scenario, device)))
    calibration, file = None, box.folder / "calibration.yaml"
    if device:
        calibration = calibrated(box, scenarios, device)
    times = []
    for scenario, (name, case) in zip(scenarios, by_target.get("torch", [])):
        measured = case.get("step_ns") if case else None
        if measured:
            after = told_step(box, scenario, device, file) if calibration and "receipt" in calibration else None
            times.append((name, measured, told_step(box, scenario, device), after))
    cases = [case for found in by_target.values() for _, case in found]
    unfinished = sum(case is None for case in cases) + (bool(device) and calibration is None)
    text = report(card, by_target, times, calibration, unfinished)
    if options.report.endswith(".json"):
        text = json.dumps({"schema_version": 1, "kind": "validate-all", "unfinished": unfinished, "calibration": calibration,
                           "cases": {target: dict(found) for target, found in by_target.items()},
                           "times": [dict(zip(("case", "measured_ns", "told", "told_calibrated"), row)) for row in times]}, indent=1)
    pathlib.Path(options.report).write_text(text.rstrip("\n") + "\n")
    print("Written: %s" % options.report)
    if unfinished:
        return UNFINISHED
    box.whole().touch()
    differs = any("error" in case or case["differing_events"] or case["oom_simulated"] != case["oom_measured"] for case in cases)
    return 1 if differs else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("interrupted; the same command goes on", file=sys.stderr)
        sys.exit(UNFINISHED)
