#!/usr/bin/env python3
"""Copies recorded training runs into the test suite: the events without the columns that say why, the statistics,
the configuration, and the scenario made of it.

    pack_training_goldens.py tests/golden/training RUN...     RUN: a folder with config.json, events.csv.gz, stats.json
    pack_training_goldens.py --prefix headline- ...           puts a word before each name
    pack_training_goldens.py --scenarios tests/golden/training    makes the scenarios again, touches nothing else
"""
import argparse
import csv
import gzip
import io
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def gz_write(path, data):
    """gzip without a time stamp: the same data gives the same file"""
    with open(path, "wb") as file, gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=9) as z:
        z.write(data)


def make_scenario(folder):
    return subprocess.call([sys.executable, os.path.join(HERE, "golden_scenario.py"), os.path.join(folder, "config.json"),
                            "-o", os.path.join(folder, "scenario.yaml")]) == 0


def pack(run, folder):
    config = json.load(open(os.path.join(run, "config.json")))
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump({k: v for k, v in config.items() if k not in ("loop", "made", "allocator_settings")}, file, indent=1)
        file.write("\n")
    with gzip.open(os.path.join(run, "events.csv.gz"), "rt") as file:
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        columns = ["action", "address", "bytes", "stream", "id"]
        writer.writerow(columns)
        for row in csv.DictReader(file):
            writer.writerow([row[c] for c in columns])
    gz_write(os.path.join(folder, "events.csv.gz"), out.getvalue().encode())
    with open(os.path.join(run, "stats.json"), "rb") as file:
        gz_write(os.path.join(folder, "stats.json.gz"), file.read())
    return make_scenario(folder)


def main():
    parser = argparse.ArgumentParser(description="Copies recorded training runs into the test suite.")
    parser.add_argument("--prefix", default="")
    parser.add_argument("--scenarios", action="store_true")
    parser.add_argument("out")
    parser.add_argument("runs", nargs="*")
    arguments = parser.parse_args()
    if arguments.scenarios:
        folders = sorted(os.listdir(arguments.out))
        return 0 if all([make_scenario(os.path.join(arguments.out, f)) for f in folders
                         if os.path.exists(os.path.join(arguments.out, f, "config.json"))]) else 1
    for run in arguments.runs:
        name = arguments.prefix + os.path.basename(os.path.normpath(run))
        if not pack(run, os.path.join(arguments.out, name)):
            print("left out: " + name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
