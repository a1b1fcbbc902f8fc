# SPDX-License-Identifier: MIT
"""Markdown pages as HTML: links between pages, numbered equations, highlighted code, figures, and text for the search."""
import dataclasses
import html
import os
import pathlib
import re

import pygments
import pygments.lexers
from markdown_it import MarkdownIt
from pygments.formatters import HtmlFormatter

import formulas

CITATION = re.compile(r"(?<![\w\])])\(([A-Z]\d{1,2})\)")
LANGUAGES = {"sh": "bash", "cpp": "cpp", "python": "python", "toml": "toml", "cmake": "cmake", "json": "json", "console": "console"}


@dataclasses.dataclass
class Page:
    url: str                 # below the site's folder
    title: str               # its heading
    name: str                # in the navigation
    section: str = ""
    source: str = ""         # the file in the repository
    body: str = ""
    headings: list = dataclasses.field(default_factory=list)   # (level, id, text)
    entries: list = dataclasses.field(default_factory=list)    # (heading, id, text), for the search
    formulas: bool = False
    wide: bool = False


def slug(heading):
    """The anchor that GitHub gives a heading; tests/docs/check_docs.py has the same."""
    text = re.sub(r"[`*]|\]\([^)]*\)|\[", "", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def highlight(code, language):
    if language not in LANGUAGES:
        return html.escape(code)
    lexer = pygments.lexers.get_lexer_by_name(LANGUAGES[language], stripnl=False)
    return pygments.highlight(code, lexer, HtmlFormatter(nowrap=True))


def code_block(code, language, label=""):
    code = code.rstrip("\n") + "\n"
    name = f' data-language="{html.escape(language)}"' if language else ""
    return (f'<div class="code"{name}><pre tabindex="0" aria-label="{label or "Code"}"><code>{highlight(code, language)}</code></pre></div>\n')


LEGEND = re.compile(r'<(line|circle) class="(way|curve|jump|teleport)( s\d)?"[^>]*/>\n<text x="[^"]*" y="([^"]*)" fill="[^"]*">([^<]*)</text>\n')


def inline_svg(file, prefix, label=""):
    """A picture as part of the page: it has the page's colours, and its legend is text below it, which stays readable when the
    picture is small. Its ids must be its own."""
    text = file.read_text(encoding="utf-8")
    text = text[text.index("<svg"):]
    for name in set(re.findall(r'\bid="([^"]+)"', text)):
        text = text.replace(f'id="{name}"', f'id="{prefix}-{name}"').replace(f"url(#{name})", f"url(#{prefix}-{name})")
    keys = "".join(f'<li><i class="{"dot" if shape == "circle" else "line"}{series or " jump"}"></i>{name}</li>'
                   for shape, _, series, _, name in LEGEND.findall(text))
    bottom = max((float(y) for _, _, _, y, _ in LEGEND.findall(text)), default=-8.0)
    text = LEGEND.sub("", text)
    head, rest = text.split(">", 1)
    head = re.sub(r'\s(?:width|height)="[^"]*"', "", head)
    left, top, width, height = map(float, re.search(r'viewBox="([^"]*)"', head).group(1).split())
    # Room at the left for larger letters: the axis' title moves away from the numbers.
    rest = re.sub(r'transform="translate\(16 ', 'transform="translate(-8 ', rest)
    head = re.sub(r'viewBox="[^"]*"', f'viewBox="{left - 24:g} {top + bottom + 8:g} {width + 24:g} {height - bottom - 8:g}"', head)
    if "role=" not in head:
        head += f' role="img" aria-label="{html.escape(label)}"'
    legend = f'<ul class="keys">{keys}</ul>' if keys else ""
    return f'<div class="static">{head}>{rest}</div>{legend}'


class Renderer:
    """Renders the pages of a repository. `urls` maps a file of the repository to its page."""

    def __init__(self, root, urls, equations, add_source):
        self.root, self.urls, self.equations, self.add_source = root, urls, equations, add_source
        self.parser = MarkdownIt("commonmark", {"html": False}).enable("table")

    def relative(self, page, url):
        return os.path.relpath(url, pathlib.PurePosixPath(page.url).parent)

    def link(self, page, href):
        if re.match(r"[a-z]+:", href) or href.startswith("#"):
            return href
        name, _, anchor = href.partition("#")
        file = (self.root / page.source).parent / name
        file = pathlib.Path(os.path.normpath(file))
        if file.is_dir() and (file / "README.md").is_file():
            file = file / "README.md"
        if not file.exists():
            raise ValueError(f"{page.source}: link to {href}: no such file")
        source = str(file.relative_to(self.root))
        url = self.urls.get(source) or self.add_source(source)
        return self.relative(page, url) + (f"#{anchor}" if anchor else "")

    def cite(self, page, text):
        """Numbers of equations in HTML text become links to them."""
        def replace(match):
            label = match.group(1)
            if label not in self.equations:
                return match.group()
            target = self.equations[label]
            href = f"#{label}" if target == page.url else f"{self.relative(page, target)}#{label}"
            return f'(<a class="cite" href="{href}">{label}</a>)'
        return CITATION.sub(replace, text)

    def inline(self, page, tokens):
        out = []
        for token in tokens or []:
            kind = token.type
            if kind == "text":
                out.append(self.cite(page, formulas.inline(token.content)))
            elif kind == "code_inline":
                out.append(f"<code>{html.escape(token.content)}</code>")
            elif kind == "softbreak":
                out.append("\n")
            elif kind == "hardbreak":
                out.append("<br>")
            elif kind == "link_open":
                href = self.link(page, token.attrs["href"])
                out.append(f'<a href="{html.escape(href)}"' + (' class="outside"' if re.match(r"https?:", href) else "") + ">")
            elif kind == "image":
                out.append(self.picture(page, token))
            elif kind in ("em_open", "strong_open", "em_close", "strong_close", "link_close"):
                out.append(f"<{'/' if token.nesting < 0 else ''}{token.tag}>")
            else:
                raise ValueError(f"{page.source}: unknown markup {kind}")
        return "".join(out)

    @staticmethod
    def images(paragraph):
        """Its images, if it has nothing else."""
        rest = [c for c in paragraph.children if c.type != "image" and (c.type != "softbreak" and c.content.strip())]
        return [] if rest else [c for c in paragraph.children if c.type == "image"]

    def picture(self, page, token):
        file = pathlib.Path(os.path.normpath((self.root / page.source).parent / token.attrs["src"]))
        return inline_svg(file, slug(file.stem), token.content)

    def parse(self, text):
        """Tokens of a page. Underscores are subscripts, never emphasis: the parser does not see them."""
        tokens = self.parser.parse(text.replace("_", "\ue000"))
        for token in [child for parent in tokens for child in (parent, *(parent.children or []))]:
            token.content = token.content.replace("\ue000", "_")
            token.attrs = {key: value.replace("%EE%80%80", "_").replace("\ue000", "_") if isinstance(value, str) else value
                           for key, value in token.attrs.items()}
        return tokens

    def render(self, page, text, skip_title=True):
        """Fills in a page's body, headings and entries."""
        tokens = self.parse(text)
        out, entry, used = [], [page.title, "", []], {}

        def finish():
            words = " ".join(" ".join(entry[2]).split())
            if words or entry[1]:
                page.entries.append((entry[0], entry[1], words))

        place = 0
        while place < len(tokens):
            token = tokens[place]
            kind = token.type
            if kind == "heading_open":
                level, content = int(token.tag[1]), tokens[place + 1]
                plain = re.sub(r"[`*]|\]\([^)]*\)|\[", "", content.content).strip()
                place += 3
                if level == 1:
                    page.title = plain
                    entry[0] = plain
                    if skip_title:
                        continue
                anchor = slug(content.content)
                if anchor in used:
                    used[anchor] += 1
                    anchor = f"{anchor}-{used[anchor]}"
                else:
                    used[anchor] = 0
                finish()
                entry = [plain, anchor, []]
                page.headings.append((level, anchor, plain))
                out.append(f'<h{level} id="{anchor}">{self.inline(page, content.children)}'
                           f'<a class="anchor" href="#{anchor}" aria-label="Link to this section">#</a></h{level}>\n')
                continue
            if kind == "paragraph_open" and (images := self.images(tokens[place + 1])):
                # Images in one paragraph are panels, side by side.
                panels = "".join(f"<div>{self.picture(page, image)}</div>" for image in images)
                out.append(f"<figure>{panels}" if len(images) == 1 else f'<figure class="panels"><div class="row">{panels}</div>')
                place += 3
                following = tokens[place + 1] if place + 1 < len(tokens) else None
                if following is not None and tokens[place].type == "paragraph_open" and following.children and \
                        following.children[0].type == "em_open" and following.children[-1].type == "em_close":
                    out.append(f"<figcaption>{self.inline(page, following.children[1:-1])}</figcaption>")
                    entry[2].append(following.content)
                    place += 3
                out.append("</figure>\n")
                continue
            if kind == "inline":
                out.append(self.inline(page, token.children))
                entry[2].append("".join(" " if c.type == "softbreak" else c.content for c in token.children
                                        if c.type in ("text", "code_inline", "softbreak")) if token.children else token.content)
            elif kind in ("fence", "code_block"):
                block = formulas.equation_block(token.content, lambda t: self.cite(page, t)) if not token.info else None
                if block:
                    page.formulas = True
                    out.append(block)
                else:
                    out.append(code_block(token.content, token.info.strip()))
                entry[2].append(token.content)
            elif kind == "table_open":
                out.append('<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>\n')
            elif kind == "table_close":
                out.append("</table></div>\n")
            elif kind == "hr":
                out.append("<hr>\n")
            elif kind in ("paragraph_open", "paragraph_close") and token.hidden:
                pass
            elif token.nesting:
                start = f' start="{token.attrs["start"]}"' if kind == "ordered_list_open" and "start" in token.attrs else ""
                style = ' class="right"' if "right" in str(token.attrs.get("style", "")) else ""
                out.append(f"<{'/' if token.nesting < 0 else ''}{token.tag}{start}{style}>" + ("\n" if token.nesting < 0 else ""))
            else:
                raise ValueError(f"{page.source}: unknown block {kind}")
            place += 1
        finish()
        page.body = "".join(out)
        return page
