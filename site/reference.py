# SPDX-License-Identifier: MIT
"""The reference: a page for each folder of include/symport, with every public type, its contract and its members."""
import html
import re

import headers
import pages

FOLDERS = {
    "core": "Types, random numbers, matrix products, threads, errors",
    "objectives": "Losses to minimise: test functions, networks, functions of your own",
    "symmetries": "Groups, their actions, and the orbits that searches move on",
    "search": "What is maximised, the searches, one teleport and its certificate",
    "optimizers": "Rules with explicit state",
    "schedules": "Sets of steps, learning rates",
    "training": "Algorithms 1, 2 and 3, checkpoints, traces",
    "data": "Readers and writers of files, batches, synthetic data",
    "statistics": "Intervals and profiles",
    "testing": "Public checkers of derivatives and of the laws of a symmetry",
}
KIND = {"class": "class", "struct": "struct", "enum": "enum", "concept": "concept", "alias": "type", "function": "function",
        "value": "constant"}


class Reference:
    def __init__(self, root, renderer):
        self.root, self.renderer = root, renderer
        include = root / "include"
        self.folders = {folder: [headers.read(file, include) for file in sorted((include / "symport" / folder).glob("*.hpp"))]
                        for folder in FOLDERS}
        self.place = {}  # name of a type or function -> (url, anchor)
        for folder, found in self.folders.items():
            for header in found:
                for item in header.declarations:
                    self.place.setdefault(item.name, (f"api/{folder}.html", self.anchor(item)))

    @staticmethod
    def anchor(item):
        return re.sub(r"[^\w-]", "-", item.name)

    def href(self, page, name):
        url, anchor = self.place[name]
        return ("" if url == page.url else self.renderer.relative(page, url)) + f"#{anchor}"

    def code(self, page, code):
        """Highlighted, with names of the library as links to their entries."""
        marked = pages.highlight(code, "cpp").rstrip("\n")

        def replace(match):
            name = match.group(2)
            if name not in self.place:
                return match.group()
            return f'{match.group(1)}<a href="{self.href(page, name)}">{name}</a>'
        return re.sub(r'(<span class="n[a-z]*">)(\w+)(?=</span>)', replace, marked)

    def prose(self, page, comment):
        """A comment: paragraphs, indented formulas and pseudo-code, `names`."""
        out = []
        for block in re.split(r"\n\s*\n", comment):
            lines = block.splitlines()
            part, literal = [], []
            for line in lines:
                if line.startswith("  ") and not re.match(r"\s*[-*] ", line):
                    literal.append(line)
                    continue
                if literal:
                    out += self.paragraph(page, part) + [self.literal(literal)]
                    part, literal = [], []
                part.append(line)
            out += self.paragraph(page, part)
            if literal:
                out.append(self.literal(literal))
        return "".join(out)

    @staticmethod
    def literal(lines):
        return f'<pre class="literal" tabindex="0">{html.escape(headers.dedent(chr(10).join(lines)))}</pre>'

    def paragraph(self, page, lines):
        text = " ".join(line.strip() for line in lines).strip()
        if not text:
            return []
        parts = re.split(r"`([^`]+)`", text)
        out = []
        for place, part in enumerate(parts):
            if place % 2:
                name = re.match(r"\w+", part)
                if name and name.group() in self.place:
                    out.append(f'<a href="{self.href(page, name.group())}"><code>{html.escape(part)}</code></a>')
                else:
                    out.append(f"<code>{html.escape(part)}</code>")
            else:
                out.append(self.renderer.cite(page, html.escape(part, quote=False)))
        return [f"<p>{''.join(out)}</p>"]

    def entry(self, page, header, group):
        """One declaration, or several that share a comment."""
        first = group[0]
        anchor = self.anchor(first)
        comment = "\n\n".join(item.comment for item in group if item.comment)
        if not comment and first.name.endswith("Options"):
            owner = first.name.removesuffix("Options")
            comment = f"Options of `{owner}`." if owner in self.place else "Options, with their defaults."
        names = []
        for item in group:
            if item.name not in names:
                names.append(item.name)
        extra = ""
        for item in group[1:]:
            if self.anchor(item) not in page.used | {anchor}:
                page.used.add(self.anchor(item))
                extra += f'<span id="{self.anchor(item)}"></span>'
        ident = "" if anchor in page.used else f' id="{anchor}"'
        page.used.add(anchor)
        out = [f'<section class="entry"{ident}>{extra}<h3><span class="kind">{KIND[first.kind]}</span> '
               f'{", ".join(f"<code>{html.escape(name)}</code>" for name in names)}'
               f'<a class="anchor" href="#{anchor}" aria-label="Link to {html.escape(first.name)}">#</a></h3>']
        out.append(self.prose(page, comment))
        code = "\n".join(item.code for item in group)
        if first.namespace != "symport":
            code = f"// namespace {first.namespace}\n{code}"
        if first.kind not in ("struct",) or ":" in code or "template" in code:
            out.append(f'<div class="code" data-language="cpp"><pre tabindex="0" aria-label="Declaration"><code>{self.code(page, code)}</code></pre></div>')
        words = [comment]
        if first.kind == "enum":
            rows = "".join(f"<div><dt><code>{html.escape(value)}</code></dt><dd>{self.prose(page, text)}</dd></div>" for value, text in first.members)
            out.append(f'<dl class="members">{rows}</dl>')
            words += [value for value, _ in first.members]
        elif first.members:
            out.append(self.members(page, first))
            words += [f"{m.name} {m.comment}" for m in first.members]
        out.append("</section>\n")
        page.entries.append((f"{', '.join(names)}", anchor, " ".join(" ".join(words).replace("`", "").split())))
        return "".join(out)

    def members(self, page, item):
        rows, pending = [], []
        for member in item.members + [None]:
            if pending and (member is None or not (member.joined and not member.comment) or pending[-1].comment):
                codes = "".join(f"<code>{self.code(page, one.code)}</code>" for one in pending)
                text = self.prose(page, pending[0].comment)
                if pending[0].kind == "enum":
                    text += "<p>" + ", ".join(f"<code>{html.escape(value)}</code>" + (f" ({html.escape(note)})" if note else "")
                                              for value, note in pending[0].members) + "</p>"
                rows.append(f"<div><dt>{codes}</dt><dd>{text}</dd></div>")
                pending = []
            if member is not None:
                pending.append(member)
        return f'<dl class="members">{"".join(rows)}</dl>'

    def pages(self):
        for folder, found in self.folders.items():
            page = pages.Page(url=f"api/{folder}.html", title=f"{folder}", name=folder, source=f"include/symport/{folder}")
            page.used = set()
            out = [f'<p class="lead">{FOLDERS[folder]}.</p>']
            summary, listed = [], set()
            body = []
            for header in found:
                groups = []
                for item in header.declarations:
                    if item.joined and not item.comment and groups and item.kind not in ("class", "struct", "enum") and \
                            groups[-1][-1].kind not in ("class", "struct", "enum"):
                        groups[-1].append(item)
                    elif groups and groups[-1][0].name == item.name and item.kind == "function":
                        groups[-1].append(item)
                    else:
                        groups.append([item])
                if not groups:
                    continue
                anchor = pages.slug(header.path.rpartition("/")[2].removesuffix(".hpp")) + "-hpp"
                body.append(f'<h2 id="{anchor}"><code>{header.path}</code>'
                            f'<a class="anchor" href="#{anchor}" aria-label="Link to this header">#</a></h2>\n')
                page.headings.append((2, anchor, header.path.rpartition("/")[2].removesuffix(".hpp")))
                body += [self.entry(page, header, group) for group in groups]
                for group in groups:
                    first = group[0]
                    if first.kind in ("class", "struct", "enum", "concept", "function") and not first.name.endswith("Options"):
                        text = re.split(r"(?<=[.:;])\s", first.comment.replace("\n", " "), maxsplit=1)[0].rstrip(":;")
                        cell = "".join(self.paragraph(page, [text])).replace("<p>", "").replace("</p>", "") if text else ""
                        if first.name in listed or not cell:
                            continue
                        listed.add(first.name)
                        row = f'<tr><td><a href="#{self.anchor(first)}"><code>{html.escape(first.name)}</code></a></td><td>{cell}</td></tr>'
                        summary.append(row)
            out.append('<div class="scroll" tabindex="0" role="region" aria-label="Summary"><table class="summary">'
                       f'<thead><tr><th>name</th><th>what it is</th></tr></thead><tbody>{"".join(summary)}</tbody></table></div>')
            page.body = "".join(out + body)
            yield page
