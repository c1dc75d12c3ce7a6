#!/usr/bin/env python3
"""Every row of `tidemark ops` names the rule that it follows, and the rule is there; tools/check_docs.py finds what leads nowhere.

    rules_test.py PATH/TO/tidemark
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import check_docs  # noqa: E402  (the path comes first)
import wrap_prose  # noqa: E402

PROGRAM = ""


def findings(files):
    """What check_docs says of a tree of these files, given by path."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        return check_docs.findings(root)


FOLDER = check_docs.RULES  # not written out: these documents are made up
RULES = {f"{FOLDER}/a.md": '# A\n\n## 1. One <a id="1"></a>\n\n### 1.2 Two <a id="1.2"></a>\n'}


class Operators(unittest.TestCase):
    def test_every_row_cites_a_rule_that_is_there(self):
        done = subprocess.run([PROGRAM, "ops", "--format", "json"], capture_output=True, text=True, check=True)
        rows = json.loads(done.stdout)
        known = check_docs.sections(ROOT, self.fail)
        self.assertTrue(rows)
        for row in rows:
            with self.subTest(row["name"]):
                self.assertTrue(list(check_docs.citations(row["source"])), row["source"])
                self.assertEqual(list(check_docs.dead_citations(row["source"], known)), [])

    def test_in_place_forms_and_other_names_print_their_record(self):
        for name, func in (
            ("relu_", "relu(Tensor self)"),
            ("divide", "div(Tensor|Scalar self"),
            ("add_", "add_(Tensor(a!) self"),
            ("clip", "clamp.mixed(Tensor self"),
            ("zeros", "zeros(int[] *size"),
        ):
            with self.subTest(name):
                done = subprocess.run([PROGRAM, "ops", name], capture_output=True, text=True, check=True)
                self.assertIn(f"\nfunc: {func}", done.stdout.replace("func: >-\n  ", "func: "))


class Citations(unittest.TestCase):
    def test_what_leads_somewhere_is_left_alone(self):
        self.assertEqual(findings({**RULES, "sim/x.h": f"// Source: {FOLDER}/a.md, {FOLDER}/a.md#1, #1.2.\n"}), [])

    def test_a_document_that_is_not_there(self):
        self.assertEqual(findings({**RULES, "sim/x.h": f"\n// {FOLDER}/b.md#1\n"}), [f"sim/x.h:2: {FOLDER}/b.md is not there"])

    def test_a_section_that_is_not_there(self):
        self.assertEqual(findings({**RULES, "sim/x.cc": f'"{FOLDER}/a.md#2"\n'}),
                         [f"sim/x.cc:1: {FOLDER}/a.md has no section 2"])

    def test_a_list_goes_on_in_the_next_line_of_a_comment(self):
        self.assertEqual(findings({**RULES, "tests/x.cc": f"  /// {FOLDER}/a.md#1,\n  /// #3.1.\n"}),
                         [f"tests/x.cc:1: {FOLDER}/a.md has no section 3.1"])

    def test_a_document_outside_the_repository(self):
        gone = "training" + "-semantics.md"
        self.assertEqual(findings({**RULES, "docs/x.md": f"See {gone} 1.2.\n"}),
                         [f"docs/x.md:1: {gone} is not in the repository: cite docs/rules"])

    def test_a_section_without_its_anchor(self):
        self.assertEqual(findings({f"{FOLDER}/a.md": "## 1. One\n"}),
                         [f'{FOLDER}/a.md:1: a numbered heading ends with its anchor: <a id="1"></a>'])

    def test_a_section_that_is_there_twice(self):
        two = '## 1. One <a id="1"></a>\n'
        self.assertEqual(findings({f"{FOLDER}/a.md": two + two}), [f"{FOLDER}/a.md:2: section 1 is there twice"])

    def test_a_section_named_in_words(self):
        self.assertEqual(findings({**RULES, f"{FOLDER}/b.md": "As section 4 says.\n"}),
                         [f"{FOLDER}/b.md:1: this document has no section 4"])


class Prose(unittest.TestCase):
    LONG = "word " * 25

    def test_prose_that_is_too_long_is_told(self):
        self.assertEqual(findings({"docs/x.md": f"A\n\n{self.LONG}\n"}),
                         ["docs/x.md:3: 125 columns of prose: tools/wrap_prose.py docs/x.md wraps it"])

    def test_a_sentence_of_more_than_forty_words_is_told(self):
        forty = "\n".join(["Word"] + ["word"] * 39)
        self.assertEqual(findings({"docs/x.md": f"# A\n\n{forty}. `a` {forty}.\n"}), [])
        self.assertEqual(findings({"docs/x.md": f"# A\n\n{forty} more.\n", f"{FOLDER}/y.md": f"# A\n\n{forty} more.\n"}),
                         ["docs/x.md:3: a sentence of 41 words: at most 40"])
        # Names in code are none, rows of tables and items of lists are their own.
        names = ",\n".join(["`name`"] * 60)
        self.assertEqual(findings({"docs/x.md": f"{names} are there.\n\n- {forty}\n- {forty}\n\n| {forty.replace(chr(10), ' ')} more |\n"}), [])

    def test_tables_code_headings_and_pictures_may_be_long(self):
        free = f"# {self.LONG}\n| {self.LONG} |\n\n    {self.LONG}\n\n```\n{self.LONG}\n```\n![{self.LONG}](x.png)\n"
        self.assertEqual(list(wrap_prose.long_lines(free)), [])
        self.assertEqual(wrap_prose.wrapped(free), free)

    def test_what_has_no_space_may_be_long(self):
        self.assertEqual(list(wrap_prose.long_lines("x" * 120)), [])

    def test_wrapping_keeps_the_words_and_the_shape_of_lists(self):
        text = f"- {self.LONG}\n  {self.LONG}\n- short\n\n> {self.LONG}\n"
        out = wrap_prose.wrapped(text)
        self.assertEqual(list(wrap_prose.long_lines(out)), [])
        self.assertEqual(out.replace("> ", "").split(), text.replace("> ", "").split())
        self.assertEqual([line[:2] for line in out.splitlines()], ["- ", "  ", "  ", "- ", "", "> ", "> "])

    def test_code_and_links_stay_in_one_piece(self):
        out = wrap_prose.wrapped("word " * 18 + "`a b c d e f g h` " + "word " * 5)
        self.assertIn("`a b c d e f g h`", out.replace("\n", "|"))

    def test_no_line_begins_with_what_markdown_takes_for_a_list(self):
        out = wrap_prose.wrapped("word " * 19 + "abc - " + "word " * 5)
        self.assertFalse(any(line.startswith("- ") for line in out.splitlines()))


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
