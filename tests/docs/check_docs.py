#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks what the pages and comments refer to: equation numbers, links and names of pages.

    check_docs.py [ROOT]     one line for each fault, exit 1 if there is one

- An equation is a line of a fenced block in docs/mathematics/*.md that begins with its number, such as (G2). No number is
  defined twice.
- Every number in parentheses that a comment in the code or a page cites is defined.
- Every relative link of a page leads to a file and, after #, to a heading of it; every docs/*.md that a comment names exists.
- Every path in backticks on a page, such as `src/training/loop.hpp`, exists, from the root, include/symport or src. (NAME in it
  stands for any name.)
"""
import pathlib
import re
import sys

SOURCES = ("include", "src", "lab", "apps", "examples", "benchmarks", "fuzz", "tests", "python")
NUMBER = re.compile(r"(?<![\w\])])\(([A-Z]\d{1,2})\)")
DEFINITION = re.compile(r"^\(([A-Z]\d{1,2})\)\s")
VERIFIED = re.compile(r'check\("([A-Z]\d{1,2})"')
LINK = re.compile(r"\]\(([^()\s]+)\)")
PATH = re.compile(r"`([\w./-]+/[\w.-]+\.(?:cpp|hpp|py|md|toml|json|cmake))`")
PAGE = re.compile(r"\bdocs/[\w/-]+\.md\b")
# A string or character is matched so that slashes in it begin no comment.
CPP = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|(//[^\n]*|/\*.*?\*/)', re.DOTALL)


def lines_of(page):
    """(number, text, in a fenced block) of each line."""
    fenced = False
    for number, text in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if text.lstrip().startswith("```"):
            fenced = not fenced
            continue
        yield number, text, fenced


def slug(heading):
    """The anchor that GitHub gives a heading."""
    text = re.sub(r"[`*]|\]\([^)]*\)|\[", "", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(page):
    return {slug(text.lstrip("#")) for _, text, fenced in lines_of(page) if not fenced and text.startswith("#")}


def comments(file):
    """(line number, text) of each line of a comment; of a script, every line."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".py":
        yield from enumerate(text.splitlines(), 1)
        return
    for match in CPP.finditer(text):
        if match.group(1):
            first = text.count("\n", 0, match.start()) + 1
            yield from enumerate(match.group(1).splitlines(), first)


def code_files(root):
    for folder in SOURCES:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in (".cpp", ".hpp", ".py") and "node_modules" not in file.parts:
                yield file


def pages(root):
    yield from sorted(root.glob("*.md"))
    for folder in ("docs", "experiments", "tests"):
        yield from (page for page in sorted((root / folder).rglob("*.md")) if "node_modules" not in page.parts)


def definitions(root, fault):
    defined = {}
    for page in sorted((root / "docs/mathematics").glob("*.md")):
        for number, text, fenced in lines_of(page):
            match = DEFINITION.match(text)
            if not (fenced and match):
                continue
            label = match.group(1)
            if label in defined:
                fault(page, number, f"({label}) is defined at {defined[label]} already")
            defined[label] = f"{page.name}:{number}"
    return defined


def check(root):
    faults, counts = [], {"citations": 0, "links": 0}

    def fault(file, line, what):
        faults.append(f"{file.relative_to(root)}:{line}: {what}")

    defined = definitions(root, fault)

    def cite(file, line, labels):
        for label in labels:
            counts["citations"] += 1
            if label not in defined:
                fault(file, line, f"equation ({label}) is not in docs/mathematics")

    for file in code_files(root):
        for line, text in comments(file):
            cite(file, line, NUMBER.findall(text) + VERIFIED.findall(text))
            for name in PAGE.findall(text):
                if not (root / name).is_file():
                    fault(file, line, f"{name}: no such page")
    for page in pages(root):
        for line, text, fenced in lines_of(page):
            cite(page, line, NUMBER.findall(text))
            if fenced:
                continue
            for name in PATH.findall(text):
                places = [root / folder / name for folder in ("", "include/symport", "src")]
                if "NAME" not in name and not any(place.exists() for place in places):
                    fault(page, line, f"{name}: no such file")
            for target in LINK.findall(re.sub(r"`[^`]*`", "", text)):
                if re.match(r"[a-z]+:", target):
                    continue
                counts["links"] += 1
                name, _, anchor = target.partition("#")
                file = page.parent / name if name else page
                if not file.exists():
                    fault(page, line, f"link to {name}: no such file")
                elif anchor and anchor not in anchors(file):
                    fault(page, line, f"link to {target}: no such heading")
    return faults, f"{len(defined)} equations, {counts['citations']} citations, {counts['links']} links"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    faults, summary = check(root)
    print("\n".join(faults + [summary]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
