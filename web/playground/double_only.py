#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prepares the compilation of the playground:

    double_only.py FOLDER     writes FOLDER/sources.cmake and, where something has changed, FOLDER/double/...

The latter are copies of the sources that instantiate templates for float, without these instantiations: a
page computes in double. That halves the time of the compilation and the size of the module. What refers to
float all the same (the tables of names in lab/options) becomes an import of the module; should anybody call
it, it throws (web/playground/engine.js)."""
import re
import sys
from pathlib import Path

from sources import ROOT, compiled

INSTANTIATION = re.compile(r"^template (?!<)[^;{]*\bfloat\b[^;{]*;\n", re.M)


def write(file, text):
    if not file.is_file() or file.read_text() != text:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def main():
    folder = Path(sys.argv[1]).resolve()
    files = []
    for name in compiled():
        text = (ROOT / name).read_text()
        # As many lines as before, so that messages name the right ones.
        rest = INSTANTIATION.sub(lambda found: "\n" * found[0].count("\n"), text)
        if rest == text:
            files.append(ROOT / name)
            continue
        write(folder / "double" / name, f'#line 1 "{name}"\n{rest}')
        files.append(folder / "double" / name)
    lines = "".join(f"  {file}\n" for file in files)
    write(folder / "sources.cmake", f"set(playground_files\n{lines})\n")


if __name__ == "__main__":
    main()
