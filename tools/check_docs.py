#!/usr/bin/env python3
"""Checks what people read: that every citation of docs/rules leads to a section that is there, that prose in Markdown wraps at 100
columns, and that no sentence of the pages for users has more than 40 words. Its findings are part of tools/check_floors.py;
tests/cli/rules_test.py holds the source column of `tidemark ops` to the same.

    tools/check_docs.py [ROOT]
"""

import pathlib
import re
import sys

import wrap_prose

RULES = "docs/rules"
TEMPLATE = "tools/article_walk/page.md"  # wrapped when it is filled in

# docs/rules/allocator.md#5, #8.1: a document, then sections of it. A comment may break the list at the end of a line.
BREAK = r"(?:[ ]|\s*\n\s*(?://+<?|#)?[ ]*)"
CITATION = re.compile(rf"{RULES}/([\w-]+\.md)(?:#([\d.]*\d))?((?:,{BREAK}#[\d.]*\d)*)")
# Documents that the repository had no copy of; nobody may cite them again.
GONE = re.compile(r"\b(?:caching-allocator|training-semantics)\.md")
HEADING = re.compile(r"^(#+) (?:(\d+(?:\.\d+)*)\.? )?.*?(?: <a id=\"([^\"]*)\"></a>)?$")
SECTION = re.compile(r"(?<!/)\b[Ss]ections? (\d+(?:\.\d+)?)")


LIST_ITEM = re.compile(r"\s*(?:[-*]|\d+\.)\s")
SENTENCE_END = re.compile(r"(?<=[.:!?])[\"*)]*\s+(?=[A-Z`*\"(\d])")
MOST_WORDS = 40


def sections(root, report):
    """The anchors of every rule document, by its name. A numbered heading has its number as anchor, once."""
    found = {}
    for file in sorted((root / RULES).glob("*.md")):
        anchors = found.setdefault(file.name, set())
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            heading = HEADING.match(line)
            if not heading or not (heading[2] or heading[3]):
                continue
            place = f"{RULES}/{file.name}:{number}"
            if heading[2] != heading[3]:
                report(f'{place}: a numbered heading ends with its anchor: <a id="{heading[2]}"></a>')
            elif heading[2] in anchors:
                report(f"{place}: section {heading[2]} is there twice")
            anchors.add(heading[2])
    return found


def citations(text):
    """(line, document, section or None) of every citation in the text."""
    for match in CITATION.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield line, match[1], match[2]
        for section in re.findall(r"#([\d.]*\d)", match[3]):
            yield line, match[1], section


def dead_citations(text, known):
    """(line, finding) of every citation that leads nowhere."""
    for line, document, section in citations(text):
        if document not in known:
            yield line, f"{RULES}/{document} is not there"
        elif section and section not in known[document]:
            yield line, f"{RULES}/{document} has no section {section}"
    for match in GONE.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, f"{match[0]} is not in the repository: cite {RULES}"


def cited_files(root):
    for folder, endings in (("sim", (".h", ".cc", ".py", ".md", ".txt")), ("tests", (".h", ".cc", ".py", ".md")),
                            ("docs", (".md",)), ("tools", (".py", ".md")), ("validation", (".h", ".cc", ".py", ".md"))):
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in endings:
                yield file
    yield from sorted(root.glob("*.md"))


def markdown_files(root):
    yield from sorted(root.glob("*.md"))
    for folder in ("docs", "sim", "tests", "tools", "validation", "plots", "configs"):
        for file in sorted((root / folder).rglob("*.md")):
            if file != root / TEMPLATE:
                yield file


def pages_for_users(root):
    for name in ("README.md", "CONTRIBUTING.md", "sim/README.md"):
        yield root / name
    yield from sorted((root / "docs").glob("*.md"))


def paragraphs(text):
    """(line, prose) of each paragraph and item of a list; code, tables, headings and pictures are none."""
    begun, words, fenced = 0, [], False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        fence = line.startswith("```")
        fenced ^= fence
        ends = fence or fenced or not line.strip() or line.startswith(("|", "#", "!", "<")) or (line.startswith("    ") and not words)
        if words and (ends or LIST_ITEM.match(line)):
            yield begun, " ".join(words)
            words = []
        if not ends:
            begun = begun if words else number
            words.append(line.strip())


def long_sentences(text):
    """(line, words) of each paragraph with a sentence of more than MOST_WORDS words. A name in code is none."""
    for line, prose in paragraphs(text):
        for sentence in SENTENCE_END.split(re.sub(r"`[^`]*`", "`", prose)):
            words = sum(1 for word in sentence.split() if any(c.isalnum() for c in word))
            if words > MOST_WORDS:
                yield line, words


def findings(root):
    found = []
    known = sections(root, found.append)
    for file in cited_files(root):
        path = file.relative_to(root).as_posix()
        text = file.read_text(encoding="utf-8", errors="replace")
        found += [f"{path}:{line}: {finding}" for line, finding in dead_citations(text, known)]
    for file in sorted((root / RULES).glob("*.md")):
        text = file.read_text(encoding="utf-8")
        for match in SECTION.finditer(text):
            if match[1] not in known[file.name]:
                line = text.count("\n", 0, match.start()) + 1
                found.append(f"{RULES}/{file.name}:{line}: this document has no section {match[1]}")
    for file in markdown_files(root):
        path = file.relative_to(root).as_posix()
        for line, columns in wrap_prose.long_lines(file.read_text(encoding="utf-8")):
            found.append(f"{path}:{line}: {columns} columns of prose: tools/wrap_prose.py {path} wraps it")
    for file in pages_for_users(root):
        if not file.exists():
            continue
        for line, words in long_sentences(file.read_text(encoding="utf-8")):
            found.append(f"{file.relative_to(root).as_posix()}:{line}: a sentence of {words} words: at most {MOST_WORDS}")
    return found


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    found = findings(root)
    print("\n".join(found), end="\n" if found else "")
    print(f"docs: {len(found)} findings" if found else "docs: in order")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
