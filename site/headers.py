# SPDX-License-Identifier: MIT
"""The public headers as data: what is declared in namespace symport, with its comment.

The headers are formatted by clang-format and have one comment style (///, and ///< after a member), so a scanner of brackets and
semicolons reads them. A declaration that it does not understand is an error, not a gap in the reference.
"""
import dataclasses
import re


@dataclasses.dataclass
class Declaration:
    kind: str        # class, struct, enum, concept, alias, function, value
    name: str
    code: str        # as declared, without bodies
    comment: str
    members: list    # of classes and structs: Declarations; of enums: (name, comment)
    line: int
    joined: bool     # follows the one before without a comment of its own: one entry
    namespace: str = "symport"


@dataclasses.dataclass
class Header:
    path: str        # symport/search/search.hpp
    declarations: list


COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|//[^\n]*')


def masked(code):
    """The same length, with spaces in place of comments and strings."""
    return COMMENT.sub(lambda match: " " * len(match.group()), code)


def without_comments(code):
    lines = re.sub(r"[ \t]*//[^\n]*", "", code).splitlines()
    return "\n".join(line for line in lines if line.strip())


def chunks(lines, first):
    """(line, comment, source, text of ///<, whether it follows the one before directly) of every declaration at this level."""
    comment, code, depth, trailing = [], [], 0, []
    start, joined = first, False
    for number, line in enumerate(lines, first):
        text = line.strip()
        if depth == 0 and not code:
            if text.startswith("///"):
                comment.append(text[3:].removeprefix(" "))
                continue
            if not text or text.startswith("//"):
                joined = False
                if text:
                    comment = []
                continue
            start = number
        bare = masked(line)
        code.append(line)
        depth += sum(bare.count(c) for c in "{(") - sum(bare.count(c) for c in "})")
        if depth == 0:
            match = re.search(r"///<(.*)", line)
            if match:
                trailing.append(match.group(1).strip())
            if re.search(r"[;}]\s*$|^\s*(public|private|protected):\s*$", bare):
                yield start, "\n".join(comment).strip(), "\n".join(code), trailing, joined and not comment
                comment, code, trailing, joined = [], [], [], True
    if any(part.strip() for part in code):
        raise SyntaxError(f"line {start}: a declaration without an end: {code[0].strip()}")


def body_of(code):
    """(head, body or None) at the outermost braces."""
    depth, begin, bare = 0, None, masked(code)
    for place, char in enumerate(bare):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "{" and depth == 0:
            begin = place
            break
    if begin is None:
        return code, None
    for place in range(begin, len(bare)):
        depth += {"{": 1, "}": -1}.get(bare[place], 0)
        if depth == 0:
            return code[:begin].rstrip(), code[begin + 1:place]
    return code, None


def dedent(code):
    lines = code.splitlines()
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[indent:] for line in lines).strip()


def without_body(code):
    code = without_comments(code)
    head, body = body_of(code)
    if body is None:
        return dedent(code)
    if re.search(r"=\s*$|[\w>]\s*$", head) and "(" not in head and not head.rstrip().endswith(")"):
        return dedent(code)  # an initialiser {…}
    head = re.sub(r"\s*\n?\s*:\s*\w+\(.*$", "", head, flags=re.DOTALL) if re.search(r"\)\s*(noexcept)?\s*:\s*\w", head) else head
    return dedent(head) + ";"


def name_of(code):
    code = without_comments(code)
    if re.match(r"\s*(template\s*<[^;{]*>\s*)?(class|struct|enum)\b", code):
        code = body_of(code)[0]
    head = re.sub(r"template\s*<[^{;]*?>\s*(?=\b(?:class|struct|using|inline|constexpr|concept|requires|[A-Za-z:]))", "", code, count=1, flags=re.DOTALL)
    for pattern, kind in ((r"\benum class (\w+)", "enum"), (r"^\s*(?:template[^;{]*?>\s*)?struct (\w+)", "struct"),
                          (r"^\s*(?:template[^;{]*?>\s*)?class (\w+)", "class"), (r"\bconcept (\w+)", "concept"),
                          (r"\busing (\w+)\s*=", "alias")):
        match = re.search(pattern, head)
        if match:
            return kind, match.group(1)
    signature = head.partition("{")[0]
    match = re.search(r"(operator\s*[^\s(]+|~?\w+)\s*\(", signature)
    if match and not re.match(r".*=[^=]*$", signature[:match.start()], re.DOTALL):
        return "function", match.group(1)
    match = re.search(r"(\w+)\s*(?:=|\{|;|\[)", head)
    if match:
        return "value", match.group(1)
    raise SyntaxError(f"not understood: {head.strip()[:80]}")


def members(body, first, is_class):
    public, found = not is_class, []
    for line, comment, code, trailing, joined in chunks(body.splitlines(), first):
        section = re.match(r"\s*(public|private|protected):", code)
        if section:
            public = section.group(1) == "public" if section.group(1) != "protected" else False
            code = code[section.end():]
            if not code.strip():
                continue
        if not public or code.strip().startswith(("friend", "static_assert")) or "= delete" in code:
            continue
        found.append(declaration(line, comment, code, trailing, joined))
    return found


def declaration(line, comment, code, trailing, joined):
    kind, name = name_of(code)
    comment = "\n".join(part for part in (comment, " ".join(trailing).strip()) if part)
    head, body = body_of(code)
    if kind in ("class", "struct") and body is not None:
        first = line + head.count("\n")
        return Declaration(kind, name, dedent(head), comment, members(body, first, kind == "class"), line, joined)
    if kind == "enum":
        values, note = [], []
        for text in (body or "").splitlines():
            if text.strip().startswith("///") and not text.strip().startswith("///<"):
                note.append(text.strip()[3:].strip())
                continue
            source, _, after = (part.strip() for part in text.partition("///<"))
            if not source.strip() and after and values:
                values[-1] = (values[-1][0], f"{values[-1][1]} {after}".strip())
            for value in filter(None, (part.strip() for part in re.sub(r"//.*", "", source).split(","))):
                values.append((value, " ".join(note + [after]).strip()))
                note = []
        return Declaration(kind, name, dedent(head), comment, values, line, joined)
    return Declaration(kind, name, without_body(code), comment, [], line, joined)


def read(path, root):
    """A header below root, which is the include folder."""
    text = path.read_text(encoding="utf-8")
    found = []
    lines = text.splitlines()
    spaces, block, first = [], [], 0
    for number, line in enumerate(lines, 1):
        opened = re.match(r"namespace ([\w:]+) \{$", line)
        if opened or re.match(r"\}\s+// namespace", line):
            if block and spaces:
                found += [(spaces, d) for d in chunks(block, first)]
            block, first = [], number + 1
            if opened:
                spaces = spaces + [opened.group(1)]
            else:
                spaces = spaces[:-1]
        elif spaces:
            block.append(line)
    declarations = []
    for spaces, (line, comment, code, trailing, joined) in found:
        space = "::".join(spaces)
        stripped = code.strip()
        if not space.startswith("symport") or re.search(r"\bdetail\b|\binternal\b", space) or stripped.startswith(("extern template", "static_assert", "#")):
            continue
        if re.match(r"(template\s*<[^;{]*>\s*)?(class|struct) \w+;$", stripped):
            continue  # a forward declaration
        result = declaration(line, comment, code, trailing, joined)
        result.namespace = space
        declarations.append(result)
    return Header(str(path.relative_to(root)), declarations)
