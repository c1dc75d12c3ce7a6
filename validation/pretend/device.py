#!/usr/bin/env python3
"""The settings that make the pretend GPU look like a device of configs/devices.

    device.py h100-sxm-80gb                       as lines of shell
    device.py h100 -- COMMAND...                  runs a command under them; what is set already wins
    device.py h100 --total 8GiB -- COMMAND...     a device of another size
"""
import argparse
import os
import pathlib
import re
import shlex
import sys

DEVICES = pathlib.Path(__file__).resolve().parent.parent.parent / "configs" / "devices"
VARIABLES = {"name": "FAKECUDA_NAME", "total_memory_bytes": "FAKECUDA_TOTAL_BYTES", "context_bytes": "FAKECUDA_CONTEXT_BYTES",
             "sm_count": "FAKECUDA_SM_COUNT", "l2_bytes": "FAKECUDA_L2_BYTES", "smem_optin_bytes": "FAKECUDA_SMEM_OPTIN",
             "max_threads_per_sm": "FAKECUDA_THREADS_SM", "compute_capability": "FAKECUDA_CC"}


class UnknownDevice(Exception):
    """no device of configs/devices has the name"""


def entries(path):
    """the flat part of a device's file: enough for this, and needs no YAML package"""
    found = (re.match(r"(\w+): (.*)$", line) for line in path.read_text(encoding="utf-8").splitlines())
    return {m.group(1): m.group(2).strip().strip('"') for m in found if m}


def find(name):
    """the entries of a device by its id, an alias or its file's path. Errors: UnknownDevice."""
    if name.endswith(".yaml") and os.path.exists(name):
        return entries(pathlib.Path(name))
    known = []
    for path in sorted(DEVICES.glob("*.yaml")):
        device = entries(path)
        known.append(device["id"])
        if name in [device["id"]] + [a.strip() for a in device.get("aliases", "").strip("[]").split(",")]:
            return device
    raise UnknownDevice("unknown device '%s'; known are %s" % (name, ", ".join(known)))


def environment(name, total=0):
    """variables by name; `total` bytes in place of the device's own, 0 for those"""
    device = find(name)
    env = {variable: device[key] for key, variable in VARIABLES.items() if device.get(key) not in (None, "null", "")}
    if "FAKECUDA_CC" in env:
        env["FAKECUDA_CC"] = env["FAKECUDA_CC"].replace(".", "")
    if total:
        env["FAKECUDA_TOTAL_BYTES"] = str(total)
    return env


def main():
    words = sys.argv[1:]
    command = words[words.index("--") + 1:] if "--" in words else []
    parser = argparse.ArgumentParser(prog="device.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("device")
    parser.add_argument("--total", default="", help="memory in all, in place of the device's")
    options = parser.parse_args(words[:len(words) - len(command) - 1] if command else words)
    try:
        env = environment(options.device, options.total)
    except UnknownDevice as error:
        print("error: %s" % error, file=sys.stderr)
        return 2
    if command:
        os.environ.update({k: v for k, v in env.items() if k not in os.environ})
        os.execvp(command[0], command)
    for name, value in env.items():
        print("export %s=%s" % (name, shlex.quote(value)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
