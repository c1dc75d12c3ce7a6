#!/usr/bin/env python3
"""Builds the pretend CUDA for programs of the toolkit at hand and runs what a program sees of it.

Exit codes: 0 passed, 1 failed, 77 there is no CUDA toolkit, whose headers it is built with.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import device  # noqa: E402
import environment  # noqa: E402
import stubs  # noqa: E402

MIB = 1 << 20


class Pretend(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        home = environment.toolkit()
        include, cls.scratch = str(home / "include"), tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.scratch.name)
        cudart = "libcudart.so.%d" % (environment.cuda_version(include) // 1000)
        stubs.build(str(folder / "stubs"), [include], cudart, [], [("libcuda.so.1", str(home / "lib64" / "stubs" / "libcuda.so"))],
                    say=lambda line: None)
        cls.folder = folder
        for name in ("device_test", "faults_test", "flight_test"):
            subprocess.run(["g++", "-std=c++17", "-Wall", "-Wextra", "-I" + include, str(HERE / (name + ".cc")), "-o", str(folder / name),
                            "-L" + str(folder / "stubs"), "-l:" + cudart], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def run_with(self, program, *words, **settings):
        env = {k: v for k, v in os.environ.items() if not k.startswith("FAKECUDA_")}
        env.update(settings, LD_LIBRARY_PATH=str(self.folder / "stubs"))
        return subprocess.run([str(self.folder / program), *words], env=env, stdout=subprocess.PIPE, text=True, check=False)

    def faults(self, **settings):
        done = self.run_with("faults_test", **settings)
        self.assertEqual(done.returncode, 0)
        found = {}
        for line in done.stdout.splitlines():
            word, value = line.split(" ", 1)
            found.setdefault(word, []).append(value.replace("cudaError", "").replace("cuda", ""))
        return found

    def test_a_program_sees_a_device(self):
        for settings in ({}, {"FAKECUDA_EVENTS": "sync"}, {"FAKECUDA_VA": "up"}, {"FAKECUDA_VA": "down"}, {"FAKECUDA_VA": "fresh"}):
            done = self.run_with("device_test", **settings)
            self.assertEqual(done.returncode, 0, "%s\n%s" % (settings, done.stdout))

    def test_each_device_of_the_table_has_its_own_size(self):
        for path in sorted(device.DEVICES.glob("*.yaml")):
            entries = device.entries(path)
            done = self.run_with("device_test", **device.environment(entries["id"]))
            self.assertIn("total %s\n" % entries["total_memory_bytes"], done.stdout, entries["id"])

    def test_without_faults_all_succeeds(self):
        found = self.faults()
        self.assertEqual(found["malloc"], ["Success"] * 4)
        self.assertEqual(found["launch"] + found["sync"], ["Success"] * 4)
        self.assertEqual(found["slow"], ["0"])

    def test_the_nth_request_for_memory_fails(self):
        ok, bad = "Success", "MemoryAllocation"
        for given, expected in (("2", [ok, bad, ok, ok]), ("2-3", [ok, bad, bad, ok]), ("3-", [ok, ok, bad, bad])):
            found = self.faults(FAKECUDA_FAIL_MEMORY=given)
            self.assertEqual(found["malloc"], expected, given)
            self.assertEqual(int(found["taken"][0]), 4 * MIB * expected.count(ok))

    def test_a_lost_device_stays_lost(self):
        found = self.faults(FAKECUDA_LOST_AFTER="2")
        self.assertEqual(found["launch"] + found["sync"], ["Success", "Success", "LaunchFailure", "LaunchFailure"])

    def test_a_slow_driver_takes_its_time(self):
        self.assertEqual(self.faults(FAKECUDA_SLOW_US="3000")["slow"], ["1"])

    def test_other_processes_take_memory_from_the_start_or_later(self):
        plain = int(self.faults()["gone"][0])
        self.assertEqual(int(self.faults(FAKECUDA_OTHER_BYTES="1GiB")["gone"][0]), plain + 1024 * MIB)
        later = self.faults(FAKECUDA_OTHER_LATER="3:1GiB")
        self.assertEqual(int(later["gone"][0]), plain)
        self.assertEqual(int(later["taken"][0]), (16 + 1024) * MIB)

    def test_memory_that_goes_while_work_uses_it_loses_the_device(self):
        for word, mode, last in (("early", "sync", "LaunchFailure"), ("waited", "sync", "Success"), ("early", "ready", "Success")):
            done = self.run_with("flight_test", word, FAKECUDA_EVENTS=mode)
            self.assertEqual(done.stdout.replace("cudaError", "").replace("cuda", "").splitlines(),
                             ["unmap 0", "sync Success", "unmap 0", "sync " + last], word + " " + mode)

    def test_no_device(self):
        self.assertEqual(self.run_with("faults_test", FAKECUDA_COUNT="0").returncode, 77)

    def test_an_unknown_device_is_named_with_those_that_are_known(self):
        with self.assertRaisesRegex(device.UnknownDevice, r"^unknown device 'h1000'; known are a10, .*, v100s-pcie-32gb$"):
            device.environment("h1000")


class Files(unittest.TestCase):
    def test_what_the_documentation_calls_can_be_called(self):
        scripts = [path for path in HERE.parents[1].rglob("*") if path.is_file() and path.read_bytes()[:2] == b"#!"]
        self.assertIn(HERE.parent / "environment.py", scripts)
        self.assertEqual([path for path in scripts if not os.access(path, os.X_OK)], [])


if __name__ == "__main__":
    if environment.toolkit() is None:
        print("skipped: no CUDA toolkit here")
        sys.exit(77)
    unittest.main()
