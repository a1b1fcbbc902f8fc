#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the documentation site: build.py OUTPUT

Static pages that work from disk and ask nothing of any server, made of the Markdown pages of this repository, its headers, examples
and pictures. contents.toml beside this file is the table of contents. A link or an equation number that leads nowhere is an error.
"""
import base64
import html
import json
import os
import pathlib
import re
import shutil
import sys
import tomllib

import formulas
import pages
import python_reference
import reference

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
PLAYGROUND = "web/playground/playground.html"
FONT = "node_modules/@fontsource/stix-two-math"


class Site:
    def __init__(self, out):
        self.out = out
        self.contents = tomllib.loads((HERE / "contents.toml").read_text(encoding="utf-8"))
        self.version = re.search(r"VERSION (\d+\.\d+\.\d+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")).group(1)
        self.all, self.sections, self.urls, self.sources = [], [], {"README.md": "index.html"}, []
        self.playground = (ROOT / PLAYGROUND).is_file()
        if self.playground:
            self.urls[PLAYGROUND] = "play.html"
        self.plan()
        self.renderer = pages.Renderer(ROOT, self.urls, self.equations(), self.add_source)
        self.reference = reference.Reference(ROOT, self.renderer)

    # What there is -------------------------------------------------------------------------------
    def plan(self):
        """Which file becomes which page."""
        self.home = pages.Page("index.html", "Symport", "Home", "", "README.md")
        for section in self.contents["section"]:
            listed = []
            for entry in section["pages"]:
                for file, name in self.expand(entry["file"]):
                    url = self.url_of(file)
                    page = pages.Page(url, entry.get("title", name), entry.get("title", name) if name is None else name,
                                      section["title"], file)
                    listed.append(page)
                    if not file.startswith("<"):
                        self.urls[file] = url
            listed += self.unlisted(section["title"])
            self.sections.append((section["title"], section["lead"], listed))
            self.all += listed

    def unlisted(self, title):
        """Pages of docs that the contents do not name, so that a new one is never missing."""
        named = {entry["file"] for section in self.contents["section"] for entry in section["pages"]}
        folders = {"mathematics": "Mathematics", "python": "Python", "measurements": "Results", "start": "Getting started"}
        for file in sorted((ROOT / "docs").rglob("*.md")):
            name = str(file.relative_to(ROOT))
            if name not in named and folders.get(file.parent.name, "How to") == title:
                heading = file.read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
                self.urls[name] = self.url_of(name)
                yield pages.Page(self.urls[name], heading, heading, title, name)

    @staticmethod
    def expand(file):
        if file == "<experiments>":
            for readme in sorted((ROOT / "experiments").glob("*/README.md")):
                title = readme.read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
                yield str(readme.relative_to(ROOT)), title.partition(":")[0] if title.startswith("Figure") else title
        else:
            yield file, None

    @staticmethod
    def url_of(file):
        if file.startswith("<"):
            return {"<reference>": "api/index.html", "<gallery>": "gallery.html", "<examples>": "examples/index.html",
                    "<python examples>": "examples/python.html", "<python reference>": "api/python.html"}[file]
        path = pathlib.PurePosixPath(file)
        if path.name == "README.md":
            path = path.parent / "index.md" if path.parts[0] == "docs" else path.parent.with_suffix(".md")
        if path.parts[0] == "docs":
            path = path.relative_to("docs")
        return str(path.with_suffix(".html")).lower()

    def equations(self):
        """Where each numbered equation is defined."""
        found = {}
        for file, url in self.urls.items():
            if not file.endswith(".md"):
                continue
            fenced = False
            for line in (ROOT / file).read_text(encoding="utf-8").splitlines():
                if line.startswith("```"):
                    fenced = not fenced
                match = formulas.DEFINITION.match(line)
                if fenced and match and file.startswith("docs/mathematics"):
                    found[match.group(1)] = url
        return found

    def add_source(self, file):
        """A page for a file or folder that is linked to and is no page itself."""
        url = f"source/{file}/index.html" if (ROOT / file).is_dir() else f"source/{file}.html"
        self.urls[file] = url
        self.sources.append(file)
        return url

    # Pages that are made -------------------------------------------------------------------------
    def make(self, page):
        if page.source == "<reference>":
            return self.reference_index(page)
        if page.source == "<python reference>":
            return python_reference.fill(page, ROOT)
        if page.source == "<gallery>":
            return self.gallery(page)
        if page.source in ("<examples>", "<python examples>"):
            return self.examples(page)
        return self.renderer.render(page, (ROOT / page.source).read_text(encoding="utf-8"))

    def reference_index(self, page):
        page.title = "Reference"
        page.source = "include/symport"
        rows = "".join(f'<a class="card" href="{folder}.html"><strong>{folder}</strong><span>{text}</span></a>'
                       for folder, text in reference.FOLDERS.items())
        names = sorted(self.reference.place, key=str.lower)
        letters = {}
        for name in names:
            letters.setdefault(name[0].upper() if name[0].isalpha() else "~", []).append(name)
        index = "".join(f'<h3 id="index-{letter.lower()}">{letter}</h3><p class="names">' + " ".join(
            f'<a href="{self.reference.href(page, name)}"><code>{html.escape(name)}</code></a>' for name in group) + "</p>"
            for letter, group in letters.items())
        page.headings = [(2, "folders", "Folders"), (2, "names", "All names")]
        page.entries = [(page.title, "", "All public types and functions by folder and by name.")]
        page.body = (f'<p class="lead">Every public type with its contract, as its header states it. '
                     f'<code>#include &lt;symport/symport.hpp&gt;</code> has everything; single headers compile faster.</p>'
                     f'<h2 id="folders">Folders</h2><div class="cards">{rows}</div><h2 id="names">All names</h2>{index}')
        return page

    def gallery(self, page):
        page.title, page.wide = "Gallery", True
        page.source = ""
        out = ['<p class="lead">Figures that the program drew; each links to the page with the command that draws it again.</p>',
               '<div class="gallery">']
        for picture in self.contents["picture"]:
            file = ROOT / picture["file"]
            href = self.renderer.relative(page, self.urls[picture["page"]])
            anchor = pages.slug(file.stem)
            out.append(f'<figure id="{anchor}">{pages.inline_svg(file, anchor, picture["title"])}<figcaption><strong>{html.escape(picture["title"])}.</strong> '
                       f'{html.escape(picture["text"])} <a href="{href}">How it was made</a></figcaption></figure>')
            page.entries.append((picture["title"], anchor, picture["text"]))
        page.body = "".join(out) + "</div>"
        return page

    def examples(self, page):
        python = "python" in page.source
        page.title = "Python examples" if python else "C++ examples"
        page.source = "examples/python" if python else "examples"
        files = sorted((ROOT / page.source).glob("*.py" if python else "*.cpp"))
        who = "<code>python/tests/torch/test_examples.py</code>, which checks what it claims" if python else "a test"
        out = [f'<p class="lead">Each of these programs is run by {who}.</p>']
        for file in files:
            code = file.read_text(encoding="utf-8")
            code = re.sub(r"^(//|#) SPDX[^\n]*\n", "", code)
            intro, code = self.intro(code, python)
            anchor = pages.slug(file.name).replace(".", "-")
            page.headings.append((2, anchor, file.name))
            page.entries.append((file.name, anchor, f"{intro} {code}"))
            paragraphs = "".join(f"<p>{self.renderer.cite(page, html.escape(part, quote=False))}</p>" for part in intro.split("\n\n") if part)
            out.append(f'<h2 id="{anchor}"><code>{file.name}</code><a class="anchor" href="#{anchor}" aria-label="Link to this section">#</a></h2>'
                       f'{paragraphs}{pages.code_block(code, "python" if python else "cpp", file.name)}')
        page.body = "".join(out)
        return page

    @staticmethod
    def intro(code, python):
        """The comment at the top of a program, and the rest."""
        if python:
            match = re.match(r'\s*"""(.*?)"""\n', code, re.DOTALL)
            return (re.sub(r"(?<!\n)\n(?!\n)", " ", match.group(1)).strip(), code[match.end():].lstrip("\n")) if match else ("", code)
        lines = code.splitlines()
        count = 0
        while count < len(lines) and lines[count].startswith("//"):
            count += 1
        return " ".join(line[2:].strip() for line in lines[:count]), "\n".join(lines[count:]).lstrip("\n")

    def source_page(self, file):
        path = ROOT / file
        language = {".cpp": "cpp", ".hpp": "cpp", ".py": "python", ".toml": "toml", ".cmake": "cmake", ".json": "json"}.get(path.suffix, "")
        page = pages.Page(self.urls[file], file, file, "", file)
        page.entries = [(file, "", "")]
        if path.is_dir():
            names = "".join(f"<li><code>{html.escape(str(one.relative_to(path)))}</code></li>" for one in sorted(path.rglob("*"))
                            if one.is_file() and not {"node_modules", "__pycache__"} & set(one.parts))
            page.body = f"<p>A folder of the repository:</p><ul>{names}</ul>"
            return page
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".md":
            return self.renderer.render(page, text)
        page.body = pages.code_block(text, language, file)
        return page

    def make_home(self):
        """README.md: what comes before its first section, cards, and its sections."""
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        head, mark, rest = text.partition("\n## ")
        top = self.renderer.render(pages.Page("index.html", "Symport", "Home", "", "README.md"), head)
        self.home = self.renderer.render(self.home, mark.lstrip() + rest)
        self.home.entries = top.entries + self.home.entries
        lead, _, figure = top.body.partition("</p>")
        cards = "".join(f'<a class="card" href="{page.url}"><strong>{html.escape(page.name)}</strong><span>{self.first_sentence(page)}</span></a>'
                        for page in self.sections[0][2][:3])
        if self.playground:
            cards += ('<a class="card" href="play.html"><strong>Or play with it</strong>'
                      "<span>Drag the start, choose optimizer and search, and watch the teleports, in this browser.</span></a>")
        self.home.title = "Symport"
        self.home.body = (f'<div class="hero"><div><h1>Symport</h1><div class="lead">{lead}</p></div><div class="cards">{cards}</div></div></div>'
                          f'{figure}{self.home.body}')

    @staticmethod
    def first_sentence(page):
        """What a page is about, for its card."""
        text = re.sub(r"<[^>]+>", "", re.search(r"<p>(.*?)</p>", page.body, re.DOTALL).group(1))
        return re.split(r"(?<=[.:])\s", text.strip(), maxsplit=1)[0].rstrip(":")

    # The frame around them -----------------------------------------------------------------------
    def navigation(self, page):
        out = []
        if self.playground:
            out.append(f'<a class="play" href="{self.renderer.relative(page, "play.html")}">Playground</a>')
        for title, _, listed in self.sections:
            here = any(other is page for other in listed) or title == page.section
            items = "".join(f'<li><a href="{self.renderer.relative(page, other.url)}"{" aria-current=page" if other is page else ""}>'
                            f'{html.escape(other.name)}</a></li>' for other in listed)
            out.append(f'<details{" open" if here or page.url == "index.html" and title in ("Getting started", "Concepts") else ""}>'
                       f'<summary>{html.escape(title)}</summary><ul>{items}</ul></details>')
        return "".join(out)

    def frame(self, page, order):
        base = os.path.relpath(".", pathlib.PurePosixPath(page.url).parent)
        base = "" if base == "." else base + "/"
        contents = [(level, anchor, text) for level, anchor, text in page.headings if level in (2, 3)]
        toc = ""
        if len(contents) > 1 and page.url != "index.html" and not page.wide:
            if len(contents) > 40:
                contents = [entry for entry in contents if entry[0] == 2]
            items = "".join(f'<li class="l{level}"><a href="#{anchor}">{html.escape(text)}</a></li>' for level, anchor, text in contents)
            toc = f'<aside class="toc"><nav aria-label="On this page"><h2>On this page</h2><ul>{items}</ul></nav></aside>'
        around = ""
        if page in order and page is not self.home:
            place = order.index(page)
            before = order[place - 1] if place else None
            after = order[place + 1] if place + 1 < len(order) else None
            around = '<nav class="around" aria-label="Previous and next page">' + "".join(
                f'<a class="{kind}" href="{self.renderer.relative(page, other.url)}" rel="{kind}"><small>{word}</small>{html.escape(other.name)}</a>'
                if other else "<span></span>" for other, kind, word in ((before, "prev", "Previous"), (after, "next", "Next"))) + "</nav>"
        heading = "" if page is self.home else f"<h1>{html.escape(page.title)}</h1>"
        crumb = f'<p class="crumb">{html.escape(page.section)}</p>' if page.section else ""
        source = f'Made from <code>{html.escape(page.source)}</code>. ' if page.source else ""
        title = "Symport: optimization that jumps along symmetries" if page is self.home else f"{page.title} · Symport"
        math = f'<link rel="stylesheet" href="{base}math.css">\n' if page.formulas else ""
        return f'''<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="scripts/site">
<title>{html.escape(title)}</title>
<link rel="icon" href="{base}icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="{base}site.css">
{math}<script src="{base}site.js" data-base="{base}" defer></script>
<script>try {{ const t = localStorage.getItem("symport-theme"); if (t) document.documentElement.dataset.theme = t; }} catch {{}}</script>
</head>
<body{' class="home"' if page is self.home else ""}>
<a class="skip" href="#content">Skip to the content</a>
<header class="bar">
<button class="menu" type="button" aria-expanded="false" aria-controls="navigation" aria-label="Menu"><svg viewBox="0 0 16 16" aria-hidden="true"><path d="M2 4h12M2 8h12M2 12h12"/></svg></button>
<a class="brand" href="{base}index.html"><svg viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="9"/><path d="M5.6 18.4C9 13 11 12 18.4 5.6M18.4 5.6l-4.6.6M18.4 5.6l-.9 4.5"/></svg>Symport<small>{self.version}</small></a>
<button class="find" type="button" aria-haspopup="dialog"><svg viewBox="0 0 16 16" aria-hidden="true"><circle cx="7" cy="7" r="4.5"/><path d="m10.5 10.5 4 4"/></svg><span>Search</span><kbd>/</kbd></button>
<button class="theme" type="button" aria-pressed="false" aria-label="Dark colours"><svg viewBox="0 0 16 16" aria-hidden="true"><path d="M13.5 9.8A6 6 0 0 1 6.2 2.5a6 6 0 1 0 7.3 7.3Z"/></svg></button>
</header>
<div class="frame">
<nav class="side" id="navigation" aria-label="Pages">{self.navigation(page)}</nav>
<main id="content" tabindex="-1"{' class="wide"' if page.wide else ""}>
{crumb}{heading}
{page.body}
{around}
<footer>{source}Symport {self.version}, MIT licence.</footer>
</main>
{toc}
</div>
</body>
</html>
'''

    # Files ---------------------------------------------------------------------------------------
    def write(self):
        order = [self.home]
        api = list(self.reference.pages())
        for page in self.all:
            self.make(page)
            order.append(page)
            if page.url == "api/index.html":
                for other in api:
                    other.section = page.section
                order += api
        for place, (title, lead, listed) in enumerate(self.sections):
            if title == "Reference":
                self.sections[place] = (title, lead, listed + api)
        self.make_home()
        order[0] = self.home
        made = list(order)
        done = set()
        while len(done) < len(self.sources):
            for file in list(self.sources):
                if file not in done:
                    done.add(file)
                    made.append(self.source_page(file))
        if self.out.exists():
            shutil.rmtree(self.out)
        for page in made:
            file = self.out / page.url
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(self.frame(page, order), encoding="utf-8")
        index = [[page.url, page.title, page.section, [[head, anchor, text] for head, anchor, text in page.entries]] for page in order]
        (self.out / "search.js").write_text("window.symportSearch = " + json.dumps(index, ensure_ascii=False, separators=(",", ":")) + ";\n",
                                            encoding="utf-8")
        for name in ("site.js", "icon.svg"):
            shutil.copy(HERE / name, self.out / name)
        sheets = [(folder / name).read_text(encoding="utf-8") for folder, name in ((ROOT / "web", "colors.css"), (HERE, "site.css"))]
        (self.out / "site.css").write_text("".join(sheets), encoding="utf-8")
        self.write_font()
        if self.playground:
            shutil.copy(ROOT / PLAYGROUND, self.out / "play.html")
        return made

    def write_font(self):
        """STIX Two Math, as it is published, inside a style sheet: browsers refuse fonts of other files on disk."""
        folder = HERE / FONT
        style = (HERE / "math.css").read_text(encoding="utf-8")
        if folder.is_dir():
            data = base64.b64encode((folder / "files/stix-two-math-latin-400-normal.woff2").read_bytes()).decode()
            style = ('@font-face { font-family: "STIX Two Math"; font-display: swap; '
                     f'src: url("data:font/woff2;base64,{data}") format("woff2"); }}\n') + style
            shutil.copy(folder / "LICENSE", self.out / "font-licence.txt")
        (self.out / "math.css").write_text(style, encoding="utf-8")


def main():
    out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/site").resolve()
    made = Site(out).write()
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    print(f"{len(made)} pages, {size / 1e6:.1f} MB: {out / 'index.html'}")


if __name__ == "__main__":
    main()
