#!/usr/bin/env python3
"""Every training run recorded with another release of PyTorch is exact, where these recordings are: TIDEMARK_SHARED, or ../shared.

    releases_test.py GOLDEN_TRAINING [RELEASE/NAME...]

Exit codes: 0 all are exact, 1 some are not, 77 there are none.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "tools"))
sys.dont_write_bytecode = True
import pack_training_goldens  # noqa: E402


def main():
    program, wanted = sys.argv[1], sys.argv[2:]
    runs = pathlib.Path(os.environ.get("TIDEMARK_SHARED", ROOT.parent / "shared")) / "goldens" / "training-releases"
    if not runs.is_dir():
        print("skipped: no recordings of other releases in %s" % runs)
        return 77
    with tempfile.TemporaryDirectory() as folder:
        for release in sorted(runs.glob("[0-9]*")):
            for run in sorted(release.iterdir()):
                if not wanted or "%s/%s" % (release.name, run.name) in wanted:
                    assert pack_training_goldens.pack(str(run), os.path.join(folder, "%s-%s" % (release.name, run.name)))
        return subprocess.call([program, "--root", folder])


if __name__ == "__main__":
    sys.exit(main())
