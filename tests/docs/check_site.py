#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Nothing gets lost on the way to the documentation site (site/).

    check_site.py               every letter of every equation is in its MathML, which is well formed; every public type of the
                                headers is in the reference
    check_site.py --self-test   planted losses must be found

Both are compared with what other, simpler means find: the characters of the text, and lines that begin with class, struct or enum.
"""
import collections
import pathlib
import re
import sys
import unicodedata
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "site"))
sys.dont_write_bytecode = True
import formulas  # noqa: E402
import headers  # noqa: E402

# How a sign may look on the page.
SAME = str.maketrans({"∑": "Σ", "∏": "Π", "∗": "*", "′": "'", "¯": "\u0304", "˙": "\u0307", "^": "\u0302", "~": "\u0303", "½": "1"})


def signs(text):
    """How often each sign occurs; scripts count as what they are scripts of, and brackets, which may only group, do not count."""
    text = unicodedata.normalize("NFKD", text.replace("″", "''").replace("‴", "'''").replace("½", "h")).translate(SAME)
    return collections.Counter(c for c in text if not c.isspace() and c not in "(){}[]_−-")


def equations():
    """(file, number, source of one equation with its continuation)."""
    for page in sorted((ROOT / "docs/mathematics").glob("*.md")):
        for block in re.findall(r"^```\n(\(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
            for part in re.split(r"^(?=\([A-Z]\d)", block, flags=re.MULTILINE):
                if match := formulas.DEFINITION.match(part):
                    yield page.name, match.group(1), part


def lost_signs(typeset):
    faults, count = [], 0
    for page, label, source in equations():
        count += 1
        made = typeset(source)
        try:
            tree = xml.fromstring(f"<page>{made.replace('&nbsp;', ' ')}</page>")
        except xml.ParseError as error:
            faults.append(f"{page}: ({label}) is no well-formed MathML: {error}")
            continue
        there = signs("".join(tree.find(".//div[@class='formula']").itertext()) + "/" * len(tree.findall(".//mfrac")))
        wanted = signs(re.sub(r"\^(?=[\w({])", "", formulas.DEFINITION.sub("", source)))
        if there != wanted:
            faults.append(f"{page}: ({label}) lost {dict(wanted - there)}, gained {dict(there - wanted)}")
    return faults, count


def lost_types(read):
    faults, count = [], 0
    include = ROOT / "include"
    for file in sorted((include / "symport").glob("*/*.hpp")):
        wanted = set(re.findall(r"^(?:class|struct|enum class) (\w+)(?! *;)[^;]*$", file.read_text(encoding="utf-8"), re.MULTILINE))
        wanted -= {"NumTraits", "ScalarBinaryOpTraits"}  # of Eigen
        count += len(wanted)
        there = {item.name for item in read(file, include).declarations}
        faults += [f"{file.relative_to(ROOT)}: {name} is not in the reference" for name in sorted(wanted - there)]
    return faults, count


def self_test():
    missed = []
    if not lost_signs(lambda source: formulas.equation_block(source.replace("δ", "")))[0]:
        missed.append("not found: equations without δ")
    if not lost_signs(lambda source: formulas.equation_block(source).replace("</mrow>", "", 1))[0]:
        missed.append("not found: MathML that is not well formed")
    if not lost_types(lambda file, root: headers.Header("", headers.read(file, root).declarations[1:]))[0]:
        missed.append("not found: headers without their first type")
    return missed


def main():
    if "--self-test" in sys.argv:
        faults, summary = self_test(), "3 planted losses"
    else:
        (faults, count), (more, types) = lost_signs(formulas.equation_block), lost_types(headers.read)
        faults, summary = faults + more, f"{count} equations, {types} types"
    print("\n".join(faults + [summary]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
