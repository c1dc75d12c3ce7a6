#!/usr/bin/env python3
"""Tests of tools/hunt that need no PyTorch: draws repeat, parse, and survive their file form; differences are found and made smaller."""

import ast
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from hunting import chance, compare, draw, ranks, shrink  # noqa: E402
from hunting.case import Case, read_scenario  # noqa: E402


class Draws(unittest.TestCase):
    def test_one_seed_draws_the_same_programs(self):
        self.assertEqual([draw.draw("s", i) for i in range(20)], [draw.draw("s", i) for i in range(20)])
        self.assertNotEqual(draw.draw("s", 0), draw.draw("t", 0))

    def test_blackwell_is_drawn_for_releases_that_know_it(self):
        for release, known in (("2.7", False), ("2.8", True), ("2.15", True)):
            devices = {draw.draw("d", i, release=release).device for i in range(60)}
            self.assertEqual("b200" in devices and "rtx-5090" in devices, known, release)
            self.assertIn("h100-sxm-80gb", devices)

    def test_every_draw_is_a_program_and_survives_its_file(self):
        for i in range(200):
            case = draw.draw("p", i)
            ast.parse(case.code)
            ast.parse(case.loop)
            again = read_scenario(case.scenario())
            for field in ("code", "loop"):
                self.assertEqual(ast.dump(ast.parse(getattr(again, field))), ast.dump(ast.parse(getattr(case, field))))
            self.assertEqual((again.device, again.conf, again.backends, again.name), (case.device, case.conf, case.backends, case.name))


class Ranks(unittest.TestCase):
    def test_every_kind_draws_the_same_scripts_again_and_each_parses(self):
        for kind in ranks.KINDS:
            for i in range(30):
                script = ranks.draw("r", i, kind)
                ast.parse(script.text)
                self.assertEqual(script, ranks.draw("r", i, kind))
                self.assertEqual(script.name.split()[0], kind)
                self.assertGreater(script.world, 1)

    def test_streams_and_addresses_are_numbered_as_they_appear(self):
        events = [("alloc", 512, 7, 100), ("alloc", 512, 9, 300), ("free_requested", 512, 7, 100)]
        self.assertEqual(ranks.numbered(events), [("alloc", 512, 0, 0), ("alloc", 512, 1, 1), ("free_requested", 512, 0, 0)])
        moved = [(action, size, stream + 1, address + 64) for action, size, stream, address in events]
        self.assertIsNone(ranks.first_difference(events, moved))
        self.assertEqual(ranks.first_difference(events, moved[:2]), 2)
        moved[2] = ("free_requested", 512, 8, 364)
        self.assertEqual(ranks.first_difference(events, moved), 2)


def frees_after(*gaps):
    """events of two blocks of 512 bytes and a third; `gaps`: which blocks are freed before each request for memory, and at the end"""
    events = []
    for number, blocks in enumerate(gaps):
        for block in blocks:
            events += [(action, 512, 0, 100 + block) for action in ("free_requested", "free_completed")]
        if number + 1 < len(gaps):
            events.append(("alloc", 512, 0, 100 + number))
    return events


class Chance(unittest.TestCase):
    def test_a_free_may_lie_between_the_two_ends(self):
        early, late = frees_after([], [], [0], [], [], []), frees_after([], [], [], [], [0], [])
        for gap in (2, 3, 4):
            gaps = [[0] if i == gap else [] for i in range(6)]
            self.assertEqual(chance.explains(frees_after(*gaps), early, late), "")
        for gap in (1, 5):
            gaps = [[0] if i == gap else [] for i in range(6)]
            self.assertIn("not between 2 and 4", chance.explains(frees_after(*gaps), early, late))
        self.assertIn("not between 2 and 4", chance.explains(frees_after([], [], [], [], [], []), early, late))

    def test_frees_stand_in_any_order_only_where_the_ends_differ_in_it(self):
        early, late = frees_after([], [], [], [0, 1, 2]), frees_after([], [], [], [1, 0, 2])
        self.assertEqual(chance.explains(late, early, late), "")
        self.assertEqual(chance.explains(frees_after([], [], [], [1, 2, 0]), early, late), "")
        self.assertIn("other frees", chance.explains(late, early, early))

    def test_other_requests_are_no_chance(self):
        early = frees_after([], [0], [])
        self.assertEqual(chance.explains(frees_after([], [0], [], []), early, early), "other requests for memory")


class Differences(unittest.TestCase):
    EVENTS = [["alloc", 512, 100, 0, "p"], ["free_requested", 512, 100, 0, "p"], ["free_completed", 512, 100, 0, "p"]]

    def ours(self, op=""):
        return [event + [op] for event in self.EVENTS]

    def test_equal_events_do_not_differ(self):
        self.assertIsNone(compare.first_difference(self.EVENTS, self.ours()))

    def test_each_part_of_an_event_counts(self):
        for at, kind in ((0, "action"), (1, "address"), (2, "bytes"), (3, "stream")):
            changed = self.ours()
            changed[1][at] = "alloc" if at == 0 else 7
            self.assertEqual(compare.first_difference(self.EVENTS, changed), (1, kind))

    def test_missing_and_further_events_differ(self):
        self.assertEqual(compare.first_difference(self.EVENTS, self.ours()[:2]), (2, "missing"))
        self.assertEqual(compare.first_difference(self.EVENTS[:2], self.ours()), (2, "extra"))

    def test_only_frees_of_autocasts_cache_may_come_in_another_order(self):
        frees = [["free_requested", at, 8, 0, "p"] for at in (512, 1024)]
        turned = [frees[1], frees[0]]
        self.assertIsNone(compare.first_difference(frees, [e + [compare.NO_ORDER] for e in turned]))
        self.assertEqual(compare.first_difference(frees, [e + ["relu"] for e in turned]), (0, "address"))


class Refused(unittest.TestCase):
    """what PyTorch refuses counts as a difference where Tidemark runs it"""

    def judged(self, error, refusal):
        class Refusing:
            torch = "2.11.0"
            run = staticmethod(lambda case: {"events": [], "error": error})

        run, compare.run_tidemark = compare.run_tidemark, lambda *_: ([], refusal, "")
        try:
            return compare.judge(Refusing, "", draw.draw("1", 0)).verdict
        finally:
            compare.run_tidemark = run

    def test_what_both_refuse_is_no_valid_draw(self):
        self.assertEqual(self.judged("ValueError: no", "error: no"), "invalid")

    def test_what_tidemark_runs_is_a_difference(self):
        self.assertEqual(self.judged("ValueError: no", ""), "accepted")

    def test_what_fails_for_want_of_a_gpu_is_none(self):
        self.assertEqual(self.judged("RuntimeError: cuDNN version incompatibility: ...", ""), "invalid")


class Chance(unittest.TestCase):
    """addresses after autocast dropped its cache in the order of a hash table"""

    def judged(self, expected, again, ours):
        class Processes:
            start_anew = staticmethod(lambda case: None)
            run = staticmethod(lambda case: {"events": again})

        return compare.is_chance(Processes, None, expected, ours)

    def events(self, first, second, request, size=8):
        return [["free_completed", first, 8, 0, ""], ["free_completed", second, 8, 0, ""], ["alloc", request, size, 0, ""]]

    def test_what_pytorch_does_otherwise_the_next_time_is_chance(self):
        ours = [e + [compare.NO_ORDER] for e in self.events(1, 2, 1)[:2]] + [self.events(1, 2, 1)[2] + ["relu"]]
        turned = self.events(1, 2, 2)
        self.assertTrue(self.judged(turned, self.events(2, 1, 1), ours))
        self.assertFalse(self.judged(turned, turned, ours))
        self.assertFalse(self.judged(self.events(1, 2, 2, size=9), self.events(2, 1, 1), ours))
        ordered = [e[:5] + ["relu"] for e in ours]
        self.assertFalse(self.judged(turned, self.events(2, 1, 1), ordered))


class Shrinking(unittest.TestCase):
    def test_what_does_not_matter_goes(self):
        case = Case("a = 1\ndef make():\n    b = 2\n    return bad(nn.Linear(3, 4), 5)\n", "for step in range(3):\n    x = 1\n    y = 2\n", conf="expandable_segments:True")
        judge = lambda c: compare.Outcome("differs" if "bad(" in c.code and "y = 2" in c.loop else "exact")  # noqa: E731
        small = shrink.smaller(case, judge, compare.Outcome("differs"), limit_s=20)
        self.assertEqual((small.code, small.loop, small.conf), ("def make():\n    return bad()\n", "y = 2\n", ""))

    def test_another_kind_of_difference_is_not_taken_for_it(self):
        case = Case("def make():\n    return 1\n", "x = 1\n")
        judge = lambda c: compare.Outcome("differs", kind="bytes")  # noqa: E731
        self.assertEqual(shrink.smaller(case, judge, compare.Outcome("differs", kind="action"), limit_s=5), case)


if __name__ == "__main__":
    unittest.main()
