#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs what the pages show, and compares what comes out.

    walks.py --program SYMPORT [PAGE...]    pages that have blocks ```console; all of them without an argument
    walks.py --snippets                     every ```cpp block of a page is part of a program that a test runs
    walks.py --self-test --program SYMPORT  planted faults must be found

In a ```console block a line "$ command" is run by bash, in one folder for all blocks of a page, and the lines after it are what it
prints. "..." within a line stands for any characters, and a line of it alone for any number of lines.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
# A fragment that is no part of an example is part of one of these.
PROGRAMS = ("examples/*.cpp", "tests/consumer/project/*.cpp", "tests/training/*.cpp", "tests/optimizers/*.cpp")


def pages():
    yield ROOT / "README.md"
    yield from sorted((ROOT / "docs").rglob("*.md"))


def blocks(text, language):
    """(line, content) of the fenced blocks of a language."""
    inside, start, lines = None, 0, []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            if inside is None:
                inside, start, lines = line[3:].strip(), number + 1, []
            else:
                if inside == language:
                    yield start, "\n".join(lines)
                inside = None
        else:
            lines.append(line)


def commands(text):
    """(line, command, expected lines) of every command of a page."""
    found = []
    for start, content in blocks(text, "console"):
        for number, line in enumerate(content.splitlines(), start):
            if line.startswith("$ "):
                found.append((number, line[2:], []))
            else:
                found[-1][2].append(line)
    return found


def fits(expected, printed):
    """Whether the printed lines are the expected ones; "..." as above."""
    if not expected:
        return not printed
    if expected[0].strip() == "...":
        return any(fits(expected[1:], printed[k:]) for k in range(len(printed) + 1))
    if not printed:
        return False
    pattern = ".*".join(re.escape(part) for part in expected[0].rstrip().split("..."))
    return bool(re.fullmatch(pattern, printed[0].rstrip())) and fits(expected[1:], printed[1:])


def walk(name, text, program):
    faults, count = [], 0
    environment = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}", "SYMPORT_EXPERIMENTS": str(ROOT / "experiments")}
    with tempfile.TemporaryDirectory() as folder:
        for line, command, expected in commands(text):
            count += 1
            if "symport reproduce" in command:
                command += f" --experiments {ROOT / 'experiments'}"
            done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False)
            printed = done.stdout.rstrip("\n").splitlines()
            while expected and not expected[-1].strip():
                expected.pop()
            if done.returncode != 0:
                faults.append(f"{name}:{line}: '{command}' ended with {done.returncode}: {done.stderr.strip()[-300:]}")
            elif not fits(expected, printed):
                faults.append(f"{name}:{line}: '{command}' prints something else now:\n" + "\n".join(printed))
    return faults, count


def squeezed(code):
    return re.sub(r"\s+", " ", textwrap.dedent(code)).strip()


def snippets():
    programs = [squeezed(file.read_text(encoding="utf-8")) for pattern in PROGRAMS for file in sorted(ROOT.glob(pattern))]
    faults, count = [], 0
    for page in pages():
        for line, content in blocks(page.read_text(encoding="utf-8"), "cpp"):
            count += 1
            if not any(squeezed(content) in program for program in programs):
                faults.append(f"{page.relative_to(ROOT)}:{line}: this code is not part of a program in {', '.join(PROGRAMS)}")
    return faults, count


def self_test(program):
    right = "```console\n$ symport --version\nsymport ...\n```\n"
    wrong = ["```console\n$ symport --version\nsymport 9.9.9\n```\n", "```console\n$ symport --version\n```\n",
             "```console\n$ symport nosuch\n...\n```\n", "```console\n$ symport --version\nsymport ...\nmore\n```\n"]
    faults = walk("right", right, program)[0]
    return faults + [f"not found: {text!r}" for text in wrong if not walk("wrong", text, program)[0]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", type=pathlib.Path)
    parser.add_argument("--snippets", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("page", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    if options.snippets:
        faults, count = snippets()
    elif options.self_test:
        faults, count = self_test(options.program.resolve()), 5
    else:
        faults, count = [], 0
        for page in options.page or pages():
            more, ran = walk(os.path.relpath(page, ROOT), page.read_text(encoding="utf-8"), options.program.resolve())
            faults += more
            count += ran
    print("\n".join(faults + [f"{count} run or looked for, {len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
