#!/usr/bin/env python3
"""tidemark in a shell: completion of command lines, the manual page, widths, colours, and the examples of the help.

    shell_test.py TIDEMARK [Class...]        exit code 77 when everything was skipped
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from terminal import run_on_terminal

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIDEMARK = ""
PLAIN = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}


def run(*words, env=None, folder=ROOT):
    return subprocess.run([TIDEMARK, *map(str, words)], cwd=folder, capture_output=True, text=True, check=False, env={**PLAIN, **(env or {})})


def on_terminal(*words, env=None):
    """What is printed on a terminal of 80 columns, standard error among it."""
    return run_on_terminal([TIDEMARK, *map(str, words)], cwd=ROOT, env={**PLAIN, "TERM": "xterm", **(env or {})}, with_errors=True)[1]


def names_in_help():
    listing = run("help").stdout.split("Commands\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in listing.splitlines() if line[2] != " "]


class ValuesToOffer(unittest.TestCase):
    """A word is offered once, though a parameter may have the name of a key or of what --over knows by itself."""

    def test_each_once(self):
        for option in ("over", "set"):
            words = run("completion", "values", "--of", option, "--in", "configs/scenarios/gpt2.yaml").stdout.split()
            self.assertIn("layers" if option == "over" else "layers=", words)
            self.assertEqual(len(words), len(set(words)), option)


class Completes(unittest.TestCase):
    """What each shell is asked, and the words that it must offer."""

    shell = ""
    CASES = [
        (["tidemark", "re"], {"replay", "report", "results", "record", "releases"}),
        (["tidemark", "--v"], {"--version"}),
        (["tidemark", "run", "--form"], {"--format"}),
        (["tidemark", "run", "--format", ""], {"text", "json", "csv"}),
        (["tidemark", "fit", "--format", "j"], {"json"}),
        (["tidemark", "run", "--device", "h100-n"], {"h100-nvl-94gb"}),
        (["tidemark", "run", "--device", "p4d."], {"p4d.24xlarge"}),
        (["tidemark", "completion", ""], {"bash", "zsh", "fish", "values"}),
        (["tidemark", "help", "opti"], {"optimizers"}),
    ]

    def setUp(self):
        if not self.shell:
            self.skipTest("no shell of its own")
        if shutil.which(self.shell) is None:
            self.skipTest(f"{self.shell} is not installed")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "my scenario.yaml").touch()
        (self.folder / "own").mkdir()
        (self.folder / "s.yaml").write_text("schema_version: 1\ndevice: t4\nparams: {width: 8, words: 2}\nvariants: {wide: {width: 64}, 64 then 8: {width: 8}}\n"
                                            "loop: |\n  x = torch.zeros(width, device='cuda')\n", encoding="utf-8")
        self.script = self.folder / "script"
        made = run("completion", self.shell)
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        self.script.write_text(made.stdout, encoding="utf-8")

    def ask(self, program, *arguments):
        done = subprocess.run([self.shell, "-c", program, self.shell, *arguments], cwd=self.folder, capture_output=True, text=True, check=False,
                              env={**PLAIN, "HOME": str(self.folder)})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.splitlines()


class Bash(Completes):
    shell = "bash"

    def offered(self, words):
        program = 'source ./script; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tidemark; printf "%s\\n" "${COMPREPLY[@]}"'
        return set(self.ask(program, *words)) - {""}

    def test_words(self):
        for words, expected in self.CASES:
            self.assertEqual(self.offered(words), expected, words)

    def test_values_of_the_scenario(self):
        self.assertEqual(self.offered([TIDEMARK, "run", "s.yaml", "--set", "wi"]), {"width="})
        self.assertEqual(self.offered([TIDEMARK, "run", "s.yaml", "--set", "device", "=", "h100-n"]), {"h100-nvl-94gb"})
        self.assertEqual(self.offered([TIDEMARK, "run", "s.yaml", "--variant", ""]), {"wide", "64\\ then\\ 8"})
        self.assertEqual(self.offered([TIDEMARK, "run", "s.yaml", "--variant", "64\\ t"]), {"64\\ then\\ 8"})
        self.assertEqual(self.offered([TIDEMARK, "fit", "s.yaml", "--over", "w"]), {"width", "words"})
        self.assertEqual(self.offered([TIDEMARK, "init", "new.yaml", "--model", "resnet18"]), {"resnet18"})
        self.assertEqual(self.offered([TIDEMARK, "run", "none.yaml", "--variant", ""]), set())

    def test_a_value_behind_an_equals_sign(self):
        self.assertEqual(self.offered(["tidemark", "run", "--format", "=", "te"]), {"text"})
        self.assertEqual(self.offered(["tidemark", "run", "--format", "="]), {"text", "json", "csv"})

    def test_files_and_folders(self):
        self.assertEqual(self.offered(["tidemark", "run", "my"]), {"my scenario.yaml"})
        self.assertEqual(self.offered(["tidemark", "run", "--events", ""]), {"my scenario.yaml", "own", "s.yaml", "script"})
        self.assertEqual(self.offered(["tidemark", "run", "--columns", ""]), {"own"})
        self.assertEqual(self.offered(["tidemark", "run", "--top", ""]), set())


class Fish(Completes):
    shell = "fish"

    def offered(self, words):
        line = " ".join(words)
        return {offer.split("\t")[0] for offer in self.ask(f"source ./script; complete -C '{line}'")}

    def test_words(self):
        for words, expected in self.CASES:
            self.assertEqual(self.offered(words), expected, words)

    def test_values_of_the_scenario(self):
        self.assertEqual(self.offered([TIDEMARK, "run", "s.yaml", "--variant", "w"]), {"wide"})
        self.assertEqual(self.offered([TIDEMARK, "run", "s.yaml", "--set", "device=h100-n"]), {"device=h100-nvl-94gb"})

    def test_files(self):
        self.assertIn("my scenario.yaml", self.offered(["tidemark", "run", "my"]))


class Zsh(Completes):
    """The completion system needs a terminal; here its functions only tell what they are given."""

    shell = "zsh"
    STUB = """
        _arguments() {
          if [[ $1 == -C ]]; then state=$chosen; words=($given); else print -rl -- "$@"; fi
        }
        _describe() { print -rl -- ${(P)2}; }
        compdef() { }
        chosen=$1; shift; given=($@)
        source ./script
        _tidemark
        """

    def test_commands(self):
        lines = self.ask(self.STUB, "command")
        self.assertEqual([line.split(":")[0] for line in lines], names_in_help())

    def test_options(self):
        lines = self.ask(self.STUB, "argument", "run")
        self.assertIn("--format=[how to print]:text|json|csv:(text json csv)", lines)
        self.assertTrue(any(line.startswith("*--set=[") and line.endswith(": _tidemark_values set") for line in lines), lines)
        self.assertIn("1:SCENARIO:_files", lines)
        self.assertTrue(any(line.endswith(":FOLDER:_files -/") for line in lines), lines)


class Manual(unittest.TestCase):
    def test_every_command_is_in_it(self):
        page = run("man").stdout
        self.assertTrue(page.startswith(".TH TIDEMARK 1 "))
        for name in names_in_help():
            self.assertIn(f"\n.SS tidemark {name}", page)
        for word in ("NO_COLOR", "COLUMNS", "EXIT STATUS"):
            self.assertIn(word, page)

    @unittest.skipIf(shutil.which("man") is None, "man is not installed")
    def test_man_reads_it_without_a_warning(self):
        done = subprocess.run(["man", "--warnings", "-l", "-"], input=run("man").stdout, capture_output=True, text=True, check=False,
                              env={**PLAIN, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("--fail-on-oom", done.stdout)


class Looks(unittest.TestCase):
    SCENARIO = "configs/scenarios/simple_conv.yaml"
    COLOURED = [["run", SCENARIO], ["help"], ["help", "run"], ["explain", SCENARIO]]

    def test_pipes_have_no_colour_and_terminals_only_without_no_color(self):
        for words in self.COLOURED:
            self.assertNotIn("\x1b", run(*words).stdout, words)
            self.assertIn("\x1b[1", on_terminal(*words), words)
            for plain in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
                self.assertNotIn("\x1b", on_terminal(*words, env=plain), words)

    def test_text_keeps_to_the_columns_that_there_are(self):
        for columns in (60, 80, 120):
            for words in (["help"], ["help", "init"], ["help", "run"]):
                for line in run(*words, env={"COLUMNS": str(columns)}).stdout.splitlines():
                    # What stands in examples and titles of options is never broken.
                    if not re.match(r"  (tidemark|--)", line):
                        self.assertLessEqual(len(line), columns, words)
        narrow = run("run", self.SCENARIO, env={"COLUMNS": "70"}).stdout
        self.assertLess(max(map(len, narrow.splitlines())), max(map(len, run("run", self.SCENARIO).stdout.splitlines())))
        self.assertEqual(run("run", self.SCENARIO, env={"COLUMNS": "wide"}).stdout, run("run", self.SCENARIO).stdout)

    def test_examples_on_files_of_the_repository_run(self):
        tried = 0
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        shutil.copytree(ROOT / "configs", pathlib.Path(folder.name) / "configs")
        for name in names_in_help():
            text = run("help", name).stdout
            for line in re.findall(r"^  (tidemark .*)$", text.split("\nExamples\n")[1], re.M):
                words = line.split()[1:]
                files = [word for word in words if "." in word and "/" in word or word.endswith((".yaml", ".py"))]
                if any(c in line for c in "|>'\"") or not files or not all((ROOT / file).is_file() for file in files):
                    continue
                tried += 1
                done = run(*words, folder=folder.name)
                self.assertEqual(done.returncode, 0, line + "\n" + done.stderr)
        self.assertGreater(tried, 3)


class RoughEdges(unittest.TestCase):
    def test_results_of_a_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run("results", folder)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (4, "", f"error: {folder}: is a folder, not a file\n"))

    def test_a_mistyped_class_shows_no_line_that_the_user_did_not_write(self):
        model = "configs/models/simple_conv.py"
        for words, message in [
            (["--class", "SimpleCon"], "error: --class: NameError: name 'SimpleCon' is not defined; did you mean 'SimpleConv'?\n"),
            (["--class", "SimpleConv", "--args", "imag=3"],
             "error: --class: TypeError: SimpleConv.__init__() got an unexpected keyword argument 'imag'; did you mean 'image'?\n"),
            (["--class", "SimpleConv", "--input", "2:flaot32"],
             "error: --input: AttributeError: module 'torch' has no attribute 'flaot32'; did you mean 'float32'?; "
             "declare it as a custom op: docs/scenario.md; docs/language.md lists what is modelled\n"),
            (["--class", "SimpleConv", "--device", "h1000"], "error: --device: unknown device 'h1000'; did you mean 'h100'?\n"),
        ]:
            done = run("describe", model, *words)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", message))


if __name__ == "__main__":
    TIDEMARK = str(pathlib.Path(sys.argv.pop(1)).resolve())
    result = unittest.main(exit=False).result
    if result.skipped and len(result.skipped) == result.testsRun:
        print("skipped:", result.skipped[0][1])
        sys.exit(77)  # CTest counts it
    sys.exit(0 if result.wasSuccessful() else 1)
