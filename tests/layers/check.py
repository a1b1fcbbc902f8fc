#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Includes go one way: check.py ROOT [--self-test].

Every file has the longest layer of ALLOWED that its path begins with, and so has every file that it
includes. A layer may include itself and the layers on its right.
"""
import pathlib
import re
import sys

LIBRARY = {
    "core": [],
    "objectives": ["core"],
    "optimizers": ["core", "objectives"],
    "schedules": ["core"],
    "statistics": ["core"],
    "data": ["core"],
    "models": ["core", "data", "objectives"],
    "symmetries": ["core", "models", "objectives"],
    "search": ["core", "models", "objectives", "optimizers", "symmetries"],
    "training": ["core", "data", "models", "objectives", "optimizers", "schedules", "search",
                 "symmetries"],
    "testing": ["core", "models", "objectives", "symmetries"],
}

# Where the code is not there yet: (file, what it includes). To be emptied, never to grow.
EXCEPTIONS = set()


def library_rules():
    """The same directions for include/symport and src; private headers only from src."""
    rules = {}
    for name, below in LIBRARY.items():
        public = [f"include/symport/{other}" for other in below]
        rules[f"include/symport/{name}"] = public
        rules[f"src/{name}"] = public + [f"include/symport/{name}"] + [f"src/{b}" for b in below]
    rules["include/symport"] = [f"include/symport/{name}" for name in LIBRARY]  # symport.hpp
    return rules


ALLOWED = library_rules() | {
    # The room of files that users never see may use the library's reading of bytes.
    "lab": ["include/symport", "src/data"],
    "apps/symport/terminal": ["lab/text", "include/symport"],
    "apps/symport/cli": ["lab", "include/symport", "apps/symport/terminal"],
    "apps/symport/commands": ["lab", "include/symport", "apps/symport/cli", "apps/symport/terminal"],
    # main, which nothing includes.
    "apps/symport": ["include/symport", "apps/symport/cli", "apps/symport/commands",
                     "apps/symport/terminal"],
    "python/src": ["lab", "include/symport"],
}
ROOTS = ["include", "src", "lab", "apps", "python"]
SEARCH = ["include", "src", "", "apps/symport", "python/src"]


def layer_of(path):
    """The longest layer that the path lies in; None: no rule speaks of it."""
    parts = path.split("/")
    for length in range(len(parts) - 1, 0, -1):
        name = "/".join(parts[:length])
        if name in ALLOWED:
            return name
    return None


def lies_in(path, layers):
    return any(path.startswith(layer + "/") for layer in layers)


def violations(root):
    root = pathlib.Path(root)
    found = []
    for folder in ROOTS:
        for file in sorted((root / folder).rglob("*.?pp")):
            path = file.relative_to(root).as_posix()
            layer = layer_of(path)
            if layer is None:
                found.append((path, "", "no rule for this folder"))
                continue
            for name in re.findall(r'^\s*#\s*include\s*[<"]([^">]+)[">]', file.read_text(), re.M):
                target = next((f"{base}/{name}".lstrip("/") for base in SEARCH
                               if (root / base / name).is_file()), None)
                if target is None or layer_of(target) == layer or (path, target) in EXCEPTIONS:
                    continue
                if not lies_in(target, ALLOWED[layer]):
                    found.append((path, target, f"{layer} may include {', '.join(ALLOWED[layer])}"))
    return found


def self_test():
    """A planted upward include of each kind is found."""
    import tempfile
    planted = [("src/core/a.cpp", "include/symport/search/b.hpp", "symport/search/b.hpp"),
               ("lab/runs/a.cpp", "apps/symport/commands/b.hpp", "commands/b.hpp"),
               ("lab/runs/a.cpp", "apps/symport/terminal/b.hpp", "terminal/b.hpp"),
               ("src/data/a.cpp", "lab/data/b.hpp", "lab/data/b.hpp"),
               ("apps/symport/cli/a.cpp", "apps/symport/commands/b.hpp", "commands/b.hpp"),
               ("python/src/a.cpp", "apps/symport/cli/b.hpp", "cli/b.hpp"),
               ("include/symport/core/a.hpp", "src/core/b.hpp", "core/b.hpp")]
    for path, target, name in planted:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for place, text in ((path, f'#include "{name}"\n'), (target, "")):
                (root / place).parent.mkdir(parents=True, exist_ok=True)
                (root / place).write_text(text)
            if [(p, t) for p, t, _ in violations(root)] != [(path, target)]:
                sys.exit(f"{path} includes {target}, and nobody noticed")


def main():
    if "--self-test" in sys.argv:
        self_test()
        return
    found = violations(sys.argv[1])
    for path, target, why in found:
        print(f"{path}: includes {target}: {why}")
    if found:
        sys.exit(1)


main()
