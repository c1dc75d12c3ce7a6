"""The tables of docs/trust.md, each from what the program says."""
import csv
import io
import json
import os
import pathlib
import re
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PUBLISHED = ROOT / "validation/published"
RECORDED = ROOT / "validation/recorded"
RECORDINGS = ROOT / "tests/golden/recordings"
UNITS = {"GiB": 1 << 30, "MiB": 1 << 20}


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def table(head, lines, right):
    """right: the columns of numbers"""
    rule = ["---:" if i in right else "---" for i in range(len(head))]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in [head, rule, *lines])


def csv_text(fields, lines):
    out = io.StringIO()
    writer = csv.DictWriter(out, fields, lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return out.getvalue()


def signed(share, places=0):
    text = f"{100 * share:+.{places}f}"
    return ("0" if float(text) == 0 else text) + " %"


def grouped(number):
    return f"{number:,}"


class Program:
    """Each command is run once."""

    def __init__(self, path):
        self.path, self.kept = path, {}

    def json(self, *arguments):
        if arguments not in self.kept:
            done = subprocess.run([self.path, *arguments, "--format", "json"], cwd=ROOT, capture_output=True, text=True, check=False)
            if not done.stdout:
                raise SystemExit(f"{' '.join(arguments)}: {done.stderr}")
            self.kept[arguments] = json.loads(done.stdout)
        return self.kept[arguments]

    def published(self, row):
        """The run of a row of times.csv or peaks.csv."""
        if row["scenario"] == "llama":
            script = ("tests/golden/dist/llama3_8b.py", "--device", row["card"], "--set", "pytorch=2.11", "--set", "backends.cudnn_sdp=false")
            return self.json("run", *script, "--world", row["variant"], "--rank", "0")
        return self.json("run", f"validation/published/{row['scenario']}.yaml", "--variant", row["variant"])


def step_ms(run):
    """What was timed: between the marks "from" and "to", else from the second step to the third."""
    device = run["devices"][0]
    marks = {p["name"]: p["time_ns"] for p in device.get("points", []) if p["name"] in ("from", "to")}
    if len(marks) == 2:
        return (marks["to"] - marks["from"]) / 1e6
    begins = {}
    for phase in device["phases"]:
        begins.setdefault(phase["name"].rpartition(" ")[2], phase["begin_ns"])
    return (begins["2"] - begins["1"]) / 1e6


class Times:
    def __init__(self, program):
        self.rows = []
        for row in rows(PUBLISHED / "times.csv"):
            run = program.published(row)
            told = step_ms(run) / (15 if row["source"] == "llms-speed" else 1)  # its loop has 15 steps
            published = float(row["published_ms"])
            self.rows.append({**row, "told": told, "published": published, "error": told / published - 1})
        self.errors = sorted(row["error"] for row in self.rows)

    def quantile(self, share, errors=None):
        errors = self.errors if errors is None else sorted(errors)
        at = share * (len(errors) - 1)
        below = int(at)
        above = min(below + 1, len(errors) - 1)
        return errors[below] + (errors[above] - errors[below]) * (at - below)

    def band(self):
        """Thousandths of what is told between which eight of ten published times lie, and how many there are."""
        return round(1000 / (1 + self.quantile(0.9))), round(1000 / (1 + self.quantile(0.1))), len(self.rows)

    def table(self):
        head = ["what", "card", "published, ms", "told, ms", "error", "source"]
        lines = [[r["case"], r["card"], f"{r['published']:.1f}", f"{r['told']:.1f}", signed(r["error"]), r["source"]]
                 for r in self.rows]
        return table(head, lines, {2, 3, 4})

    def by_source(self):
        lines = []
        for source in dict.fromkeys(row["source"] for row in self.rows):
            errors = [row["error"] for row in self.rows if row["source"] == source]
            middle = statistics.median(abs(e) for e in errors)
            lines.append([source, len(errors), signed(statistics.median(errors)), f"{100 * middle:.0f} %", signed(min(errors)), signed(max(errors))])
        middle = statistics.median(abs(e) for e in self.errors)
        lines.append(["all", len(self.errors), signed(statistics.median(self.errors)), f"{100 * middle:.0f} %",
                      signed(self.errors[0]), signed(self.errors[-1])])
        return table(["source", "times", "median", "median size", "least", "most"], lines, {1, 2, 3, 4, 5})


class Peaks:
    def __init__(self, program):
        self.rows = []
        for row in rows(PUBLISHED / "peaks.csv"):
            run = program.published(row)
            device = run["devices"][0]
            if row["scenario"] == "llama":  # its script prints what PyTorch's own would: GiB reserved after each step
                told = float(run["printed"].splitlines()[2].split()[1])
            else:
                point = {p["name"]: p for p in device["points"]}["end"]["stats"]
                told = point[f"{row['figure']}_bytes.all.current"] / UNITS[row["unit"]]
            places, published = int(row["places"]), float(row["published"])
            self.rows.append({**row, "told": told, "same": f"{told:.{places}f}" == row["published"], "error": told / published - 1})

    def table(self):
        lines = [[r["case"], r["card"], r["figure"], f"{r['published']} {r['unit']}",
                  f"{r['told']:.{max(2, int(r['places']))}f}", "0" if r["same"] else signed(r["error"], 2), r["source"], r["why"]] for r in self.rows]
        return table(["what", "card", "figure", "published", "told", "error", "source", "why"], lines, {3, 4, 5})


class KeptPeaks:
    """Peaks of a Tesla T4. Their programs need packages: what Tidemark tells of them is kept in t4.csv, and told anew where
    TIDEMARK_PUBLISHED_PACKAGES names the packages' folders."""

    FIELDS = ("model", "batch", "size", "figure", "published_bytes", "told_bytes")
    FIGURES = ("allocated", "reserved")

    def __init__(self, program):
        self.rows = rows(PUBLISHED / "t4.csv")
        folders = os.environ.get("TIDEMARK_PUBLISHED_PACKAGES", "")
        if folders:
            packages = [word for folder in folders.split(":") for word in ("--packages", folder)]
            run = program.json("run", "validation/published/t4.py", "--device", "t4", "--set", "pytorch=2.11", *packages)
            told = [line.split() for line in run["printed"].splitlines()]
            peaks = {(*line[:3], figure): value for line in told for figure, value in zip(self.FIGURES, line[3:])}
            for row in self.rows:
                row["told_bytes"] = peaks[row["model"], row["batch"], row["size"], row["figure"]]
        for row in self.rows:
            row["error"] = int(row["told_bytes"]) / int(row["published_bytes"]) - 1

    def csv(self):
        return csv_text(self.FIELDS, [{key: row[key] for key in self.FIELDS} for row in self.rows])

    def same(self):
        return sum(row["told_bytes"] == row["published_bytes"] for row in self.rows)

    def table(self):
        lines = [[f"{r['model']}, {r['batch']} of {r['size']}", r["figure"], grouped(int(r["published_bytes"])), grouped(int(r["told_bytes"])),
                  "0" if r["told_bytes"] == r["published_bytes"] else signed(r["error"], 2)] for r in self.rows]
        return table(["what", "figure", "published", "told", "error"], lines, {2, 3, 4})


class Snapshots:
    """Public recordings of real GPUs. They are not in the repository: what they come to is kept in snapshots.csv."""

    FIELDS = ("recording", "events", "differing", "recorded_bytes", "with_addresses_bytes", "own_addresses_bytes", "begins")

    def __init__(self, program, kept):
        folder = pathlib.Path(os.environ.get("TIDEMARK_SHARED", ROOT.parent / "shared")) / "snapshots"
        found = sorted(folder.glob("*.pickle"))
        self.rows = [self.measured(program, path) for path in found] if found else rows(kept)

    def measured(self, program, path):
        document = program.json("replay", str(path))
        recording = document["recording"]
        return dict(zip(self.FIELDS, (path.stem, recording["recorded"]["events"], recording["events_differing"],
                                      recording["recorded"]["peak_reserved_bytes"], recording["simulated"]["peak_reserved_bytes"],
                                      document["settings"][0]["peak_reserved_bytes"], "warm" if recording["warm_start"] else "cold")))

    def csv(self):
        return csv_text(self.FIELDS, self.rows)

    def table(self):
        lines = []
        for row in self.rows:
            recorded, given, own = (int(row[key]) for key in self.FIELDS[3:6])
            lines.append([row["recording"] + (" (begins warm)" if row["begins"] == "warm" else ""), grouped(int(row["events"])),
                          row["differing"], grouped(recorded), signed(given / recorded - 1, 2), signed(own / recorded - 1, 2)])
        head = ["recording", "events", "differing", "peak reserved", "with its addresses", "with ours"]
        return table(head, lines, {1, 2, 3, 4, 5})


class Comparisons:
    """What the real PyTorch recorded, played again now."""

    def __init__(self, program):
        names = [path.stem for path in sorted(RECORDED.glob("*.json"))]
        cases = [f"validation/scenarios/{name}.yaml" for name in names]
        self.runs = program.json("validate", *cases, "--against", f"recorded:{RECORDED.relative_to(ROOT)}")
        self.recordings = []
        for path in [*sorted(RECORDINGS.glob("*.pickle.gz")), *sorted(RECORDINGS.glob("releases/*.pickle.gz"))]:
            document = program.json("replay", str(path.relative_to(ROOT)))
            self.recordings.append((path, document["recording"], document["settings"][0]))

    def by_run(self):
        lines = []
        for case in self.runs["cases"]:
            figures = [case[key]["error_ppm"] for key in ("peak_allocated", "peak_reserved", "device_total")]
            lines.append([case["name"], grouped(case["events"]), case["differing_events"], *(signed(f / 1e6, 2) for f in figures),
                          "right" if case["oom_simulated"] == case["oom_measured"] else "WRONG"])
        head = ["run", "events", "differing", "allocated", "reserved", "device total", "verdict"]
        return table(head, lines, {1, 2, 3, 4, 5})

    def by_release(self):
        """Whole recordings: those that were cut do not tell what lived at their start (docs/validation.md)."""
        groups = {}
        for path, recording, settings in self.recordings:
            release = path.name.split("-")[0] if path.parent.name == "releases" else "2.11.0"
            group = groups.setdefault(tuple(int(part) for part in release.split(".")), [0, 0, 0, 0, 0])
            recorded = recording["recorded"]["peak_reserved_bytes"]
            group[0] += 1
            group[1] += recording["recorded"]["events"]
            group[2] += recording["events_differing"]
            group[3] += recording["simulated"]["peak_reserved_bytes"] == recorded
            group[4] += settings["peak_reserved_bytes"] == recorded
        lines = [[".".join(map(str, release)), group[0], grouped(group[1]), *group[2:]] for release, group in sorted(groups.items())]
        head = ["PyTorch", "recordings", "events", "differing", "peak right with its addresses", "with ours"]
        return table(head, lines, set(range(1, 6)))


class Tables:
    def __init__(self, path, kept_snapshots):
        self.program = Program(path)
        self.times, self.peaks = Times(self.program), Peaks(self.program)
        self.t4 = KeptPeaks(self.program)
        self.snapshots, self.comparisons = Snapshots(self.program, kept_snapshots), Comparisons(self.program)
        self.devices = self.program.json("devices")

    def needs(self):
        """(what, measured bytes, told bytes) of reserved memory."""
        out = [(r["case"], float(r["published"]) * UNITS[r["unit"]], r["told"] * UNITS[r["unit"]]) for r in self.peaks.rows if r["figure"] == "reserved"]
        out += [(f"{r['model']} {r['batch']} of {r['size']} on a T4", int(r["published_bytes"]), int(r["told_bytes"]))
                for r in self.t4.rows if r["figure"] == "reserved"]
        out += [(r["recording"], int(r["recorded_bytes"]), int(r["own_addresses_bytes"])) for r in self.snapshots.rows]
        out += [(path.name, recording["recorded"]["peak_reserved_bytes"], settings["peak_reserved_bytes"])
                for path, recording, settings in self.comparisons.recordings]
        out += [(c["name"], c["peak_reserved"]["measured"], c["peak_reserved"]["simulated"]) for c in self.comparisons.runs["cases"]]
        return out

    def rates(self):
        needs = self.needs()
        rounding = 1e-4  # a published figure of four places or fewer
        under = [(what, told / measured - 1) for what, measured, told in needs if told < measured * (1 - rounding)]
        over = [(what, told / measured - 1) for what, measured, told in needs if told > measured * (1 + rounding)]
        verdicts = wrong_fits = wrong_refused = 0
        for device in self.devices:
            room = device["total_bytes"] - device["context_bytes"]
            for _, measured, told in needs:
                verdicts += 1
                wrong_fits += told <= room < measured
                wrong_refused += measured <= room < told
        worst = min(under, key=lambda each: each[1], default=("", 0))
        most = max(over, key=lambda each: each[1], default=("", 0))
        lines = [["peaks of reserved memory that were measured", len(needs), ""],
                 ["told too low", len(under), f"{100 * len(under) / len(needs):.1f} %; the furthest {signed(worst[1], 2)}, {worst[0]}"],
                 ["told too high", len(over), f"{100 * len(over) / len(needs):.1f} %; the furthest {signed(most[1], 2)}, {most[0]}"],
                 [f"verdicts: each of them on each of {len(self.devices)} cards", verdicts, ""],
                 ["\"fits\" where it does not", wrong_fits, f"{100 * wrong_fits / verdicts:.2f} %"],
                 ["\"does not fit\" where it does", wrong_refused, f"{100 * wrong_refused / verdicts:.2f} %"]]
        return table(["", "count", ""], lines, {1})

    def sources(self):
        lines = [[r["source"], r["where"] + "@" + r["commit"], r["what"]] for r in rows(PUBLISHED / "sources.csv")]
        return table(["source", "where", "what"], lines, set())

    def cards(self):
        lines = []
        for device in self.devices:
            text = (ROOT / f"configs/devices/{device['id']}.yaml").read_text()
            confidence = dict(re.findall(r"(\w+): ([\w-]+)", re.search(r"^confidence: \{(.*)\}", text, re.M)[1]))
            basis = re.search(r"^context_basis: (.*)", text, re.M)[1]
            lines.append([device["id"], grouped(device["total_bytes"]), confidence.get("total", "not told"),
                          grouped(device["context_bytes"]), basis, confidence.get("flops", "not told")])
        return table(["card", "total, bytes", "total is", "context, bytes", "context is", "rates are"], lines, {1, 3})

    def text(self, name):
        low, high, count = self.times.band()
        same = sum(row["same"] for row in self.peaks.rows)
        figures = {
            "band_low": f"{low / 10 - 100:+.0f} %", "band_high": f"{high / 10 - 100:+.0f} %", "times_count": str(count),
            "times_median": f"{100 * statistics.median(abs(e) for e in self.times.errors):.0f} %",
            "times_least": signed(self.times.errors[0]), "times_most": signed(self.times.errors[-1]),
            "peaks_count": str(len(self.peaks.rows)), "peaks_same": str(same), "t4_same": str(self.t4.same()), "t4_count": str(len(self.t4.rows)),
            "comparisons_count": str(len(self.comparisons.recordings) + len(self.comparisons.runs["cases"])),
            "comparisons_events": grouped(self.comparisons.runs["summary"]["events"] + sum(r["recorded"]["events"] for _, r, _ in self.comparisons.recordings)),
        }
        made = {"times": self.times.table, "times_by_source": self.times.by_source, "peaks": self.peaks.table, "t4": self.t4.table,
                "snapshots": self.snapshots.table, "runs": self.comparisons.by_run, "releases": self.comparisons.by_release,
                "rates": self.rates, "sources": self.sources, "cards": self.cards}
        return figures[name] if name in figures else made[name]()
