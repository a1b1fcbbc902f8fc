# SPDX-License-Identifier: MIT
"""The reference of the Python package, from its signatures and docstrings: what the modules list in __all__."""
import ast
import html
import inspect
import re

import pages

MODULES = {"symport": ("symport", "On NumPy arrays"), "symport.torch": ("symport/torch", "For PyTorch models")}


def names_of(tree):
    """What __all__ lists."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return ast.literal_eval(node.value)
    return []


def definitions(folder):
    """Public functions and classes of the modules of a folder, by name."""
    found = {}
    for file in sorted(folder.glob("*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                found.setdefault(node.name, node)
    return found


def signature(node, name=None):
    """As one would type it: a line where it fits, else an argument a line."""
    arguments = ast.unparse(node.args)
    arguments = re.sub(r"^self(, )?", "", arguments)
    returns = f" -> {ast.unparse(node.returns)}" if node.returns and node.name != "__init__" else ""
    line = f"{name or node.name}({arguments}){returns}"
    if len(line) <= 88:
        return line
    parts = [ast.unparse(ast.arguments(posonlyargs=[], args=[arg], kwonlyargs=[], kw_defaults=[], defaults=[])) for arg in node.args.args
             if arg.arg != "self"]
    first = len(parts) - len(node.args.defaults)
    parts = [part if place < first else join(part, node.args.defaults[place - first]) for place, part in enumerate(parts)]
    if node.args.vararg:
        parts.append(f"*{node.args.vararg.arg}")
    elif node.args.kwonlyargs:
        parts.append("*")
    parts += [one.arg + (f": {ast.unparse(one.annotation)}" if one.annotation else "") if default is None else
              join(one.arg + (f": {ast.unparse(one.annotation)}" if one.annotation else ""), default)
              for one, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)]
    if node.args.kwarg:
        parts.append(f"**{node.args.kwarg.arg}")
    return f"{name or node.name}(\n    " + ",\n    ".join(parts) + f",\n){returns}"


def join(part, default):
    return f"{part} = {ast.unparse(default)}" if ":" in part else f"{part}={ast.unparse(default)}"


def inline(text):
    return re.sub(r"``(.+?)``|`([^`]+)`", lambda m: f"<code>{m.group(1) or m.group(2)}</code>", html.escape(" ".join(text.split()), quote=False))


def prose(text):
    """A docstring: paragraphs, lists, ``names``, and indented code after a double colon."""
    out = []
    for block in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        if block.startswith("    "):
            out.append(pages.code_block(inspect.cleandoc(block), "python"))
            continue
        words, *items = re.split(r"(?:^|\n)- ", re.sub(r"::$", ":", block))
        out.append(f"<p>{inline(words)}</p>" if words.strip() else "")
        out.append("<ul>" + "".join(f"<li>{inline(item)}</li>" for item in items) + "</ul>" if items else "")
    return "".join(out)


def entry(page, prefix, name, node):
    anchor = f"{prefix}-{name}".replace(".", "-")
    kind = "class" if isinstance(node, ast.ClassDef) else "function"
    text = ast.get_docstring(node) or ""
    out = [f'<section class="entry" id="{anchor}"><h3><span class="kind">{kind}</span> <code>{prefix}.{name}</code>'
           f'<a class="anchor" href="#{anchor}" aria-label="Link to {name}">#</a></h3>']
    methods, fields = [], []
    if kind == "class":
        for one in node.body:
            if isinstance(one, ast.FunctionDef) and (one.name == "__init__" or not one.name.startswith("_")):
                methods.append(one)
            elif isinstance(one, ast.AnnAssign) and not ast.unparse(one.target).startswith("_"):
                fields.append(ast.unparse(one))
    first = next((one for one in methods if one.name == "__init__"), None) if kind == "class" else node
    if first is not None:
        out.append(pages.code_block(signature(first, name), "python", "Signature"))
    out.append(prose(text))
    rows = [f"<div><dt><code>{pages.highlight(field, 'python').rstrip()}</code></dt><dd></dd></div>" for field in fields]
    for one in methods:
        if one.name != "__init__":
            is_property = any(ast.unparse(decorator) == "property" for decorator in one.decorator_list)
            shown = one.name + (f": {ast.unparse(one.returns)}" if one.returns else "") if is_property else signature(one)
            rows.append(f"<div><dt><code>{pages.highlight(shown, 'python').rstrip()}</code></dt><dd>{prose(ast.get_docstring(one) or '')}</dd></div>")
    if rows:
        out.append(f'<dl class="members">{"".join(rows)}</dl>')
    page.headings.append((3, anchor, name))
    page.entries.append((f"{prefix}.{name}", anchor, " ".join([text.replace("`", ""), *(one.name for one in methods), *fields])))
    return "".join(out) + "</section>\n"


def fill(page, root):
    page.title, page.source = "Python reference", "python/symport"
    out = ['<p class="lead">What <code>import symport</code> and <code>import symport.torch</code> offer, from their signatures and docstrings.</p>']
    for module, (folder, text) in MODULES.items():
        found = definitions(root / "python" / folder)
        anchor = module.replace(".", "-")
        page.headings.append((2, anchor, module))
        out.append(f'<h2 id="{anchor}"><code>{module}</code><a class="anchor" href="#{anchor}" aria-label="Link to this module">#</a></h2><p>{text}.</p>')
        for name in names_of(ast.parse((root / "python" / folder / "__init__.py").read_text(encoding="utf-8"))):
            if name in found:  # the others are compiled
                out.append(entry(page, module, name, found[name]))
    page.body = "".join(out)
    return page
