#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Numbers on the pages: where each comes from, and whether it still does.

    claims.py                              one line for each number without an origin, exit 1 if there is one
    claims.py --self-test                  the same on copies with planted faults, which must be found
    claims.py --program S --tests DIR      runs the commands of the claims and compares the numbers that come out
              [--fast | --slow]            only those without or with the mark `slow`; all where neither is asked for
              [--only WORD]                those whose command has the word

claims.toml beside this file says of every number on README.md, docs/**/*.md and experiments/*/README.md what it is: a result
of a command (`claim`), a setting (`settings`), or part of a measurement that is too long or too dependent on the machine to be
repeated by a test (`measured`). A number here is one with a decimal point or exponent, a percentage, or one with a unit of time or
memory or "times"; formulas, code and links are not looked at. Claims may name any other number too.
"""
import argparse
import csv
import hashlib
import json
import pathlib
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
NUMBER = re.compile(
    r"(?<![\w.,/^-])\d[\d,]*(?:\.\d+(?:e[-+]?\d+)?|e[-+]?\d+|(?= ?%| times\b| s\b| ms\b| seconds\b| minutes\b| [MKG]B\b))(?![\w/^]|\.\d)")


def pages(root):
    yield root / "README.md"
    yield from sorted((root / "docs").rglob("*.md"))
    yield from sorted((root / "experiments").glob("*/README.md"))


def text_lines(page):
    """(number, section, text) of every line, without code, links and what refers to the paper, and without tables that
    a script writes from the files of an experiment."""
    fenced, written, section = False, False, ""
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("<!-- "):
            written = line.startswith(("<!-- table ", "<!-- worth ", "<!-- defaults ", "<!-- harm "))
        elif written:
            continue
        elif line.lstrip().startswith("```"):
            fenced = not fenced
        elif line.startswith("#") and not fenced:
            section = line.lstrip("# ")
        elif not fenced:
            line = re.sub(r"`[^`]*`|\]\([^)]*\)", " ", line)
            yield number, section, re.sub(r"(Prop\.|[Ss]ection|[Aa]ppendix|version|Toolkit|Debian) [\w.]+", " ", line)


def value_of(text):
    return float(text.replace(",", ""))


def unit_in_last_place(text):
    mantissa, _, exponent = text.replace(",", "").partition("e")
    decimals = len(mantissa.partition(".")[2])
    return 10.0 ** (int(exponent or 0) - decimals)


def digest(root, entry):
    """Of all numbers in the sections of a measurement: who changes one has to change this, too."""
    numbers = [number for _, section, text in text_lines(root / entry["page"])
               if section in entry["sections"] or "*" in entry["sections"] for number in NUMBER.findall(text)]
    return hashlib.sha256(" ".join(numbers).encode()).hexdigest()[:12]


def unknown_runs(claim):
    """The runs below --out that a claim about `reproduce` reads and no experiment makes."""
    unknown = []
    for _, expression, *_ in claim["numbers"]:
        for name in re.findall(r"(?:last|column)\('([^']+)'", expression):
            experiment, run = name.rsplit("/", 1)
            file = ROOT / "experiments" / experiment / "experiment.toml"
            made = [row["name"] for row in tomllib.loads(file.read_text(encoding="utf-8"))["run"]] if file.is_file() else []
            folders = {"-".join(re.findall(r"[a-z0-9]+", name.lower())) for name in made}
            if run.rsplit("-", 1)[0] not in folders:
                unknown.append(name)
    return unknown


def unbacked(root, table):
    """What is wrong with the pages and the table, one line each."""
    faults = []
    settings = {page: set(text.split()) for page, text in table.get("settings", {}).items()}
    claimed, measured = {}, {}
    for claim in table.get("claim", []):
        text = (root / claim["page"]).read_text(encoding="utf-8")
        faults += [f"{claim['page']}: no run '{name}' comes out of '{claim['run']}'" for name in unknown_runs(claim)]
        for numbers, *_ in claim["numbers"]:
            for number in [numbers] if isinstance(numbers, str) else numbers:
                claimed.setdefault(claim["page"], set()).add(number)
                if not re.search(r"(?<![\w.])" + re.escape(number) + r"(?!\w|\.\d)", text):
                    faults.append(f"{claim['page']}: claims.toml has {number} by '{claim['run']}', which is not on the page")
    for entry in table.get("measured", []):
        measured.setdefault(entry["page"], set()).update(entry.get("sections", []))
        claimed.setdefault(entry["page"], set()).update(entry.get("numbers", "").split())
        if "sections" in entry and digest(root, entry) != entry.get("digest"):
            faults.append(f"{entry['page']}: other numbers than were measured by '{entry['command']}'; if they are measured "
                          f"anew, claims.toml needs digest = \"{digest(root, entry)}\"")
        if entry["command"] not in (root / entry["page"]).read_text(encoding="utf-8"):
            faults.append(f"{entry['page']}: does not name the command of its measurements, {entry['command']}")
    count = 0
    for page in pages(root):
        name = str(page.relative_to(root))
        here, logged = claimed.get(name, set()) | settings.get(name, set()), measured.get(name, set())
        used = set()
        for line, section, text in text_lines(page):
            for number in NUMBER.findall(text):
                count += 1
                used.add(number)
                if number not in here and section not in logged and "*" not in logged:
                    faults.append(f"{name}:{line}: {number} has no command or test behind it; add it to tests/docs/claims.toml")
        for number in sorted(settings.get(name, set()) - used):
            faults.append(f"{name}: claims.toml has the setting {number}, which is not on the page")
    return faults, count


class Results:
    """What a command printed and wrote, for the expressions of claims.toml."""

    def __init__(self, out, folder):
        self.out, self.folder = out, folder
        try:
            self.json = json.loads(out)
        except ValueError:
            self.json = None

    def found(self, what):
        """Of `reproduce`: the number found for the expectation whose text has all these words."""
        words = what.split()
        for figure in self.json["figures"]:
            for expected in figure["expected"]:
                if all(word in f"{figure['figure']} {expected['what']}" for word in words):
                    return expected["found"]
        raise KeyError(what)

    def column(self, run, name):
        """A column of the trace of a run below --out."""
        with open(self.folder / run / "trace.csv", encoding="utf-8") as file:
            return [float(row[name]) for row in csv.DictReader(file)]

    def last(self, run, name="train_loss"):
        return self.column(run, name)[-1]

    def demo(self, function, method):
        """The final loss of a row of `demo`."""
        (row,) = [r for r in self.json["runs"] if r["function"] == function and r["method"] == method]
        return row["final_loss"]

    def printed(self, pattern):
        """The number that the first group of a pattern finds in the output."""
        return float(re.search(pattern, self.out).group(1))

    def value(self, expression):
        names = {"r": self.json, "found": self.found, "column": self.column, "last": self.last, "demo": self.demo,
                 "printed": self.printed, "median": statistics.median, "mean": statistics.mean, "max": max, "min": min,
                 "sum": sum, "len": len, "abs": abs, "range": range}
        return eval(expression, {"__builtins__": {}, **names})  # from the table beside this file


def run(claim, words, program, tests):
    """What the command of a claim gives; nothing where its data cannot be had."""
    words = [str(ROOT / word) if (ROOT / word).is_file() else word for word in words]
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        if words[0].startswith("test_"):
            command = [tests / words[0], *words[1:]]
        else:
            command = [program, *words, "--json", "--quiet"]
            if words[0] in ("reproduce", "demo"):
                command += ["--out", out]
            if words[0] == "reproduce":
                command += ["--experiments", ROOT / "experiments"]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=folder, check=False)
        if "cannot be fetched now" in done.stderr or "not fetched yet" in done.stderr:
            return None
        if done.returncode != 0 and not (words[0] == "reproduce" and done.returncode == 1):
            raise RuntimeError(f"it ended with {done.returncode}: {done.stderr.strip()[-300:]}")
        results = Results(done.stdout, out)
        return [results.value(number[1]) for number in claim["numbers"]]


def regenerate(table, program, tests, kinds, only):
    faults, checked, skipped = [], 0, 0
    for claim in table.get("claim", []):
        if claim.get("slow", False) not in kinds or only not in claim["run"]:
            continue
        seeds = claim.get("seeds", [None])
        for k, seed in enumerate(seeds):
            words = shlex.split(claim["run"]) + ([] if seed is None else ["--seed", str(seed)])
            try:
                found = run(claim, words, program, tests)
            except (RuntimeError, KeyError, ValueError, AttributeError, OSError) as error:
                faults.append(f"{claim['page']}: '{shlex.join(words)}': {error!r}")
                continue
            if found is None:
                print(f"skipped, no data: {shlex.join(words)}")
                skipped += 1
                continue
            for (numbers, _, *limits), value in zip(claim["numbers"], found):
                number = numbers if isinstance(numbers, str) else numbers[k]
                stated = value_of(number)
                room = max(unit_in_last_place(number), claim.get("part", 0.0) * stated)
                low, high = limits or [stated - room, stated + room]
                checked += 1
                if not low <= value <= high:
                    faults.append(f"{claim['page']}: {number} is {value:.4g} now (allowed {low:.4g} to {high:.4g}) by "
                                  f"'{shlex.join(words)}'")
    print(f"{checked} numbers regenerated" + (f", {skipped} commands skipped" if skipped else ""))
    return faults


def self_test(table):
    """A stale number, a number without an origin and a claim without its page must be found."""
    plants = [("README.md", lambda t: t.replace("0.0193", "0.0293"), "0.0293"),
              ("docs/networks.md", lambda t: t + "\nIt is 3.75 times faster.\n", "3.75"),
              ("docs/design.md", lambda t: t + "\nIt takes 12 % of the time.\n", "12"),
              ("docs/measurements/harm.md", lambda t: t.replace("17.3 %", "1.3 %"), "other numbers")]
    missed = []
    for page, plant, number in plants:
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder)
            for source in pages(ROOT):
                target = copy / source.relative_to(ROOT)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)
            text = (copy / page).read_text(encoding="utf-8")
            (copy / page).write_text(plant(text), encoding="utf-8")
            faults, _ = unbacked(copy, table)
            if not any(page in fault and number in fault for fault in faults):
                missed.append(f"not found: {number} in {page}")
    return missed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", type=pathlib.Path)
    parser.add_argument("--tests", type=pathlib.Path, default=pathlib.Path())
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--slow", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    table = tomllib.loads((pathlib.Path(__file__).parent / "claims.toml").read_text(encoding="utf-8"))
    if options.self_test:
        faults = self_test(table)
    elif options.program:
        kinds = [slow for slow, asked in ((False, options.fast), (True, options.slow)) if asked] or [False, True]
        faults = regenerate(table, options.program.resolve(), options.tests.resolve(), kinds, options.only)
    else:
        faults, count = unbacked(ROOT, table)
        print(f"{count} numbers")
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
