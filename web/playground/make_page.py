#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The playground's page, one file, from its parts and the WebAssembly module:

    make_page.py MODULE.wasm PAGE.html     writes the page
    make_page.py --check PAGE.html         fails unless the page was made from the sources as they are

The page has a hash of everything that enters it: the sources that the module is compiled from, with
all headers of the repository that they include, and the page's own parts. A change of comments or
spacing in C++ needs no new page."""
import base64
import gzip
import hashlib
import json
import re
import sys
from pathlib import Path

from sources import with_headers

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WEB = HERE.parent
# In the order in which they are put together; the names that they export are unique.
MODULES = ["format.js", "ticks.js", "theme.js", "playground/picture.js", "playground/chart.js",
           "playground/plane.js", "playground/computer.js", "playground/settings.js",
           "playground/rows.js", "playground/functions_tab.js", "playground/networks_tab.js",
           "playground/factors_tab.js", "playground/main.js"]
WORKER = ["playground/engine.js", "playground/worker.js"]
STYLES = ["colors.css", "report.css", "playground/playground.css"]
LIMIT = 1_000_000


def essence(file):
    """The text; of C++ without comments and spacing, which change nothing in the module."""
    text = file.read_text()
    if file.suffix in (".cpp", ".hpp", ".h"):
        text = re.sub(r"\s+", " ", re.sub(r"//.*", "", text))
    return text


def sources_hash():
    files = with_headers()
    files |= {WEB / name for name in [*MODULES, *WORKER, *STYLES]}
    files |= {HERE / name for name in ["page.html", "CMakeLists.txt", "double_only.py", "make_page.py"]}
    digest = hashlib.sha256(version().encode())
    for file in sorted(files):
        content = essence(file).encode()
        digest.update(f"{file.relative_to(ROOT).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def version():
    return re.search(r"project\(symport VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]


def bundle(names):
    """ES modules as one script: each in a scope of its own, out of which come the names that it exports."""
    text = ""
    for name in names:
        part = re.sub(r"^import [^;]*;\n", "", (WEB / name).read_text(), flags=re.M)
        exported = ", ".join(re.findall(r"^export (?:async )?(?:const|function|class) (\w+)", part, re.M))
        part = re.sub(r"^export ", "", part, flags=re.M)
        text += f"const {{ {exported} }} = (() => {{\n{part}return {{ {exported} }};\n}})();\n"
    return text


def content_hash(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def page(module):
    worker = json.dumps(f'"use strict";\n{bundle(WORKER)}').replace("<", "\\u003c")
    script = f'(() => {{\n"use strict";\nconst workerSource = {worker};\n{bundle(MODULES)}}})();\n'
    style = "".join((WEB / name).read_text() for name in STYLES)
    for name, text in [("script", script), ("style", style)]:
        if "</" in text:
            sys.exit(f"make_page.py: the {name} has '</' in it, which would end its element")
    policy = "; ".join(["default-src 'none'", f"script-src {content_hash(script)} 'wasm-unsafe-eval' blob:",
                        "worker-src blob:", f"style-src {content_hash(style)}", "img-src data:"])
    packed = gzip.compress(module, compresslevel=9, mtime=0)
    parts = {"policy": policy, "sources": sources_hash(), "style": style, "version": version(),
             "module": base64.b64encode(packed).decode(), "script": script}
    return re.sub(r"@(\w+)@", lambda found: parts[found[1]], (HERE / "page.html").read_text())


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if sys.argv[1] == "--check":
        made_from = re.search(r'name="symport-sources" content="(\w+)"', Path(sys.argv[2]).read_text())
        if made_from is None or made_from[1] != sources_hash():
            sys.exit(f"{sys.argv[2]} was made from other sources than there are now: run scripts/playground")
        return
    text = page(Path(sys.argv[1]).read_bytes())
    if len(text.encode()) >= LIMIT:
        sys.exit(f"make_page.py: the page has {len(text.encode())} bytes, allowed is less than {LIMIT}")
    Path(sys.argv[2]).write_text(text)


if __name__ == "__main__":
    main()
