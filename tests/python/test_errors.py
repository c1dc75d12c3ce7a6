"""What is wrong with the input reaches Python whole."""
import os
import subprocess
import tempfile
import unittest

from support import MLP, PROGRAM, SIMPLE

import tidemark


class Errors(unittest.TestCase):
    def test_every_problem_has_its_place_and_the_text_is_the_command_lines(self):
        wrong = MLP.replace("batch: 64,", "batch: lots,").replace("loss:", "los:")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "s.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(wrong)
            done = subprocess.run([PROGRAM, "run", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
            with self.assertRaises(tidemark.InputError) as caught:
                tidemark.run(path)
        self.assertEqual(str(caught.exception) + "\n", done.stderr)
        self.assertEqual(len(caught.exception.problems), done.stderr.count("error: "))
        first = caught.exception.problems[0]
        self.assertEqual((first.file, first.line), (path, 5))
        self.assertGreater(first.column, 0)
        self.assertTrue(all(problem.message for problem in caught.exception.problems))
        self.assertEqual([problem.path for problem in caught.exception.problems], ["train.batch", "train"])
        self.assertEqual(caught.exception.problems[1].hint, "did you mean 'loss'?")

    def test_it_is_a_value_error(self):
        with self.assertRaises(ValueError):
            tidemark.run(tidemark.Scenario.from_text("schema_version: 1\n"))

    def test_an_override_that_leads_nowhere_says_what_was_meant(self):
        with self.assertRaises(tidemark.InputError) as caught:
            tidemark.run(SIMPLE, set={"devcie": "a100"})
        self.assertEqual(caught.exception.problems[0].hint, "did you mean 'device'?")
        self.assertIsNone(caught.exception.problems[0].file)

    def test_a_file_that_is_not_there_is_an_os_error(self):
        with self.assertRaises(OSError):
            tidemark.run("nowhere.yaml")

    def test_arguments_are_named_in_pythons_words(self):
        for call, argument in (
            (lambda: tidemark.fit(SIMPLE, headroom=1.5), "headroom"),
            (lambda: tidemark.fit(SIMPLE, over="device"), "over"),
            (lambda: tidemark.replay(SIMPLE, event_policy="soon"), "event_policy"),
            (lambda: tidemark.replay(SIMPLE, memory_fraction=2.0), "memory_fraction"),
            (lambda: tidemark.sweep(tidemark.Scenario.from_text(MLP), shard=(3, 2)), "shard"),
        ):
            with self.assertRaises(tidemark.InputError) as caught:
                call()
            self.assertEqual(caught.exception.problems[0].path, argument)


if __name__ == "__main__":
    unittest.main()
