#!/usr/bin/env python3
"""Each recorded run's scenario is what tools/golden_scenario.py makes of its configuration; what it cannot express it refuses."""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOOL = os.path.join(HERE, "..", "..", "..", "tools", "golden_scenario.py")
sys.path.insert(0, os.path.dirname(TOOL))
sys.dont_write_bytecode = True
import golden_scenario  # noqa: E402


def tool(*arguments):
    done = subprocess.run([sys.executable, TOOL, *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def main():
    wrong = []
    names = [n for n in sorted(os.listdir(HERE)) if os.path.exists(os.path.join(HERE, n, "config.json"))]
    assert len(names) > 150, names
    for name in names:
        folder = os.path.join(HERE, name)
        with open(os.path.join(folder, "config.json")) as file:
            made = golden_scenario.scenario_of(json.load(file), golden_scenario.MODELS, folder)
        with open(os.path.join(folder, "scenario.yaml")) as file:
            if file.read() != made:
                wrong.append(name)
    assert not wrong, "make again with tools/pack_training_goldens.py --scenarios: " + " ".join(wrong)

    with open(os.path.join(HERE, "mlp", "config.json")) as file:
        config = json.load(file)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "config.json")

        def with_config(**changes):
            with open(path, "w") as out:
                json.dump({**config, **changes}, out)
            return tool(path)

        code, text, _ = with_config()
        assert code == 0 and text.startswith("schema_version: 1\n"), text
        code, text, _ = with_config(ddp=2)
        assert code == 0 and "\n  ddp: 2\n" in text, text
        code, _, error = with_config(ddp=2, model="gan")
        assert code == 2 and "a gan of several ranks (ddp: 2)" in error, error
        code, _, error = with_config(optimizer="adamm")
        assert code == 2 and "unknown optimizer 'adamm'" in error, error
        code, text, _ = with_config(optimizer="sgd-momentum:foreach=False,weight_decay=0.1")
        assert 'optimizer: "SGD(lr=0.01, momentum=0.9, foreach=False, weight_decay=0.1)"' in text, text

        code, text, _ = with_config(model="gan", model_arguments={"z": 100, "width": 64}, channels_last=True, mode="eval")
        assert 'function: "(lambda **a: WORKLOADS[\\"gan\\"].build(**a).to(memory_format=torch.channels_last).eval())"' in text, text
        assert 'width=64)[0].to(memory_format=torch.channels_last).to("cuda")' in text, text

        own = os.path.join(folder, "own.py")
        with open(own, "w") as file:
            file.write("from models import workload, vectors, class_loss\n")
        code, text, _ = tool(path, "--models", own)
        assert code == 0 and 'code: "import own; from models import WORKLOADS"' in text, text
        whole = os.path.join(folder, "whole.py")
        with open(whole, "w") as file:
            file.write("WORKLOADS = {}\n")
        code, text, _ = tool(path, "--models", whole)
        assert code == 0 and 'code: "from whole import WORKLOADS"' in text, text
        assert tool(os.path.join(folder, "absent.json"))[0] == 4
    print("%d scenarios" % len(names))


main()
