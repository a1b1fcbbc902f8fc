# SPDX-License-Identifier: MIT
"""Formulas of the pages, which are plain text such as W'_m = (W_m + δ_m ℓ_{m−1}) g⁻¹, as MathML.

    equation_block(text)   a fenced block whose first line begins with a number such as (G2): HTML, or None
    inline(text)           prose with c_{m−1}, s^(2c) in it: HTML with subscripts and superscripts
"""
import html
import re
import unicodedata

DEFINITION = re.compile(r"^\(([A-Z]\d{1,2})\)\s+")
FUNCTIONS = {"tr", "diag", "exp", "log", "sinh", "arsinh", "sin", "cos", "max", "min", "loss", "SO"}
SHORT_WORDS = {"of", "at", "is", "in", "on", "or", "no", "to", "an", "by", "if", "up"}
SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀ", "0123456789+−T", strict=True))
SUBSCRIPTS = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₍₎ₖ", "0123456789+−()k", strict=True))
MARKS = {"\u0307": "˙", "\u0304": "¯", "\u0302": "^", "\u0303": "~"}
PRIMES = {1: "′", 2: "″", 3: "‴"}
OPEN, CLOSE = "([⟨", ")]⟩"
LARGE = "ΣΠ"
RELATIONS = "=≤≥<>+−·∘⊘×∈↦←,;:/|*…"


def is_text(word):
    if word in FUNCTIONS:
        return False
    if len(word) == 2:
        return word in SHORT_WORDS
    return len(word) > 2 and word[1:].islower()


TOKEN = re.compile(r"(?P<space>\s+)|(?P<option>--[a-z]+)|(?P<name>[a-z]{3,}_[a-z]{3,})|(?P<number>\d+(?:,\d{3})*(?:\.\d+)?)"
                   r"|(?P<word>[A-Za-z]+(?:-[a-z]{2,})?)|(?P<primes>'+)|(?P<up>[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀ]+)|(?P<down>[₀₁₂₃₄₅₆₇₈₉₊₋₍₎ₖ]+)"
                   r"|(?P<script>[_^])|(?P<brace>[{}])|(?P<letter>[^\W\d_][\u0300-\u036f]?)|(?P<sign>.)")


class Parser:
    """One formula. Every method returns MathML and moves on."""

    def __init__(self, text):
        # Marks stay apart from their letters: ẑ is z and a circumflex.
        self.tokens = [(m.lastgroup, m.group()) for m in TOKEN.finditer(unicodedata.normalize("NFD", text))]
        self.tokens = list(self.split(self.tokens))
        self.at = 0

    @staticmethod
    def split(tokens):
        """Products such as hh and gG are letters; words stay together."""
        before = ""
        tokens = list(tokens)
        for place, (kind, text) in enumerate(tokens):
            if kind != "word":
                before = text
                yield kind, text
                continue
            after = tokens[place + 1][1] if place + 1 < len(tokens) else ""
            if re.match(r"[\u0300-\u036f]", after):  # the mark belongs to the last letter
                yield from (("letter", letter) for letter in text)
            elif is_text(text.partition("-")[0]) or before == "_" and len(text) > 2:
                yield "text", text
            elif text in FUNCTIONS:
                yield "function", text
            else:
                yield from (("letter", letter) for letter in text)
            before = text

    def peek(self, ahead=0):
        place = self.at + ahead
        return self.tokens[place] if place < len(self.tokens) else ("end", "")

    def take(self):
        token = self.peek()
        self.at += 1
        return token

    def row(self, stop=None):
        parts = []
        while self.peek()[0] != "end" and not (stop and self.peek()[1] == stop):
            parts.append(self.item())
        return "".join(parts)

    def group(self, stop):
        inner = self.row(stop)
        self.take()
        return f"<mrow>{inner}</mrow>"

    def letter(self, text):
        mark = ""
        if len(text) > 1:
            text, mark = text[0], text[1]
        elif self.peek()[1] in MARKS:
            mark = self.take()[1]
        inner = f"<mi>{html.escape(text)}</mi>"
        return f'<mover accent="true">{inner}<mo>{MARKS[mark]}</mo></mover>' if mark in MARKS else inner

    def words(self, first):
        """Words with the spaces, commas and single articles between them."""
        text = first
        while True:
            if self.peek()[0] == "space" and self.peek(1)[0] == "text":
                text += " " + self.peek(1)[1]
                self.at += 2
            elif self.peek() == ("sign", ",") and self.peek(1)[0] == "space" and self.peek(2)[0] == "text":
                text += ", " + self.peek(2)[1]
                self.at += 3
            elif self.peek()[0] == "space" and self.peek(1)[1] == "a" and self.peek(2)[0] == "space" and self.peek(3)[0] == "text":
                text += " a " + self.peek(3)[1]
                self.at += 4
            else:
                return text

    def item(self):
        kind, text = self.take()
        if kind == "space":
            return '<mspace width="1em"/>' if len(text) > 1 else ""
        if kind == "text":
            before = "\u2002" if self.at > 1 and self.tokens[self.at - 2][0] == "space" else ""
            text = self.words(text)
            after = "\u2002" if self.peek()[0] == "space" else ""
            return f"<mtext>{before}{html.escape(text)}{after}</mtext>"
        if kind in ("option", "name"):
            return f'<mtext class="code">{html.escape(text)}</mtext>'
        if kind == "sign" and text == "∂" and (fraction := self.derivative()):
            return fraction
        return self.scripts(*self.atom(kind, text))

    def derivative(self):
        """∂J/∂T_m, with or without scripts: a fraction."""
        start = self.at
        if self.peek()[0] == "letter":
            above = self.scripts(*self.atom(*self.take()))
            if self.peek()[1] == "/" and self.peek(1)[1] == "∂":
                self.at += 2
                below = ""
                if self.peek()[0] == "function":
                    below = f"<mi>{self.take()[1]}</mi><mspace width='0.15em'/>"
                    if self.peek()[0] == "space":
                        self.take()
                below += self.scripts(*self.atom(*self.take()))
                return f"<mfrac><mrow><mi>∂</mi>{above}</mrow><mrow><mi>∂</mi>{below}</mrow></mfrac>"
        self.at = start
        return None

    def atom(self, kind, text):
        """(MathML, whether limits go below)."""
        if kind == "function":
            return f"<mi>{text}</mi>", False
        if kind == "letter" and text in LARGE:
            return f"<mo>{'∑' if text == 'Σ' else '∏'}</mo>", True
        if kind == "letter":
            return self.letter(text), False
        if kind == "number":
            return f"<mn>{text}</mn>", False
        if text in "½":
            return "<mfrac><mn>1</mn><mn>2</mn></mfrac>", False
        if text in OPEN:
            close = CLOSE[OPEN.index(text)]
            inner = self.row(close)
            end = ""
            if self.peek()[1] == close:
                self.take()
                end = self.scripts(f'<mo stretchy="false">{close}</mo>', False)
            return f'<mrow><mo stretchy="false">{text}</mo>{inner}{end}</mrow>', False
        if text in ("∂", "∇"):
            return f"<mi>{text}</mi>", False
        if kind == "text":
            return f"<mtext>{html.escape(text)}</mtext>", False
        if text == "−" and self.is_sign():
            return '<mo form="prefix">−</mo>', False
        if text == "/":
            return '<mo lspace="0.1em" rspace="0.1em">/</mo>', False
        return f'<mo stretchy="false">{html.escape(text)}</mo>', False

    def is_sign(self):
        """Whether the minus just taken is that of a number, not of a difference."""
        before = [text for kind, text in self.tokens[:self.at - 1] if kind != "space"]
        return not before or before[-1] in RELATIONS or before[-1] in OPEN or before[-1] in "{_^"

    def script(self):
        """What follows _ or ^."""
        kind, text = self.take()
        if text == "{":
            return self.group("}")
        if text == "(":
            return self.group(")")
        if kind == "letter":
            letters = self.letter(text)
            while self.peek()[0] == "letter" and self.peek()[1].isascii() and self.tokens[self.at - 1][1] in "abi":
                letters += self.letter(self.take()[1])  # M_ab, (C)_ii
            return f"<mrow>{letters}</mrow>"
        if kind in ("function", "text"):
            return f"<mtext>{text}</mtext>"
        return self.atom(kind, text)[0]

    def scripts(self, base, limits):
        below, above = "", ""
        while True:
            kind, text = self.peek()
            if kind == "primes":
                base = f'<mrow>{base}<mo class="prime" lspace="0" rspace="0">{PRIMES.get(len(text), text)}</mo></mrow>'
                self.take()
            elif kind == "up":
                above += "".join(f"<mo>{SUPERSCRIPTS[c]}</mo>" if c in "⁺⁻" else
                                 '<mi mathvariant="normal">T</mi>' if c == "ᵀ" else f"<mn>{SUPERSCRIPTS[c]}</mn>" for c in text)
                self.take()
            elif kind == "down":
                below += "".join(f"<mn>{SUBSCRIPTS[c]}</mn>" if SUBSCRIPTS[c].isdigit() else f"<mi>{SUBSCRIPTS[c]}</mi>"
                                 if c == "ₖ" else f'<mo stretchy="false">{SUBSCRIPTS[c]}</mo>' for c in text)
                self.take()
            elif kind == "script" and text == "_" and self.peek(1)[0] != "space":
                self.take()
                below += self.script()
            elif kind == "script" and text == "^" and self.peek(1)[0] != "space":
                self.take()
                above += self.script()
            elif kind == "function" and text in ("max", "min") and base.startswith("<mi>λ"):
                self.take()
                below += f"<mtext>{text}</mtext>"
            elif kind == "sign" and text == "*" and self.peek(1)[0] in ("space", "end"):
                self.take()
                above += "<mo>∗</mo>"
            else:
                break
        below, above = (f"<mrow>{part}</mrow>" if part else "" for part in (below, above))
        under, over, both = ("munder", "mover", "munderover") if limits else ("msub", "msup", "msubsup")
        if below and above:
            return f"<{both}>{base}{below}{above}</{both}>"
        if below:
            return f"<{under}>{base}{below}</{under}>"
        return f"<{over}>{base}{above}</{over}>" if above else base


def formula(text):
    return f'<math displaystyle="true">{Parser(text).row()}</math>'


def pieces(line):
    return [piece for piece in re.split(r"\s{3,}", line.strip()) if piece]


def is_prose(piece):
    """Whether a piece is words about the formula, such as "plain gradient descent"."""
    words = re.findall(r"[A-Za-z-]{2,}", piece)
    return bool(words) and not re.search(r"[=≤≥↦∈←<]", piece) and sum(is_text(w.partition("-")[0]) for w in words) >= max(2, len(words) - 1)


def equation_block(text, cite=lambda text: text):
    """The numbered equations of a block, each with its number as an anchor."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines or not DEFINITION.match(lines[0]):
        return None
    out, label, rows = [], None, []

    def finish():
        if label:
            body = "".join(f'<div class="row">{row}</div>' for row in rows)
            out.append(f'<div class="equation" id="{label}"><div class="formula" tabindex="0" role="math" '
                       f'aria-label="Equation {label}">{body}</div>'
                       f'<a class="number" href="#{label}" aria-label="Equation {label}">({label})</a></div>')

    for line in lines:
        match = DEFINITION.match(line)
        if match:
            finish()
            label, rows = match.group(1), []
            line = line[match.end():]
        parts = []
        for piece in pieces(line):
            if is_prose(piece):
                parts.append(f'<span class="words">{cite(inline(piece))}</span>')
            else:
                parts.append(formula(piece))
        rows.append(" ".join(parts))
    finish()
    return "".join(out)


SCRIPT = r"['′]*[_^](?:\{[^{}]{1,20}\}|\([^()]{1,12}\)|min\b|max\b|[A-Za-zα-ωΑ-Ω0-9](?![A-Za-z0-9_]{2}))"
SCRIPTED = re.compile(rf"(?<![A-Za-z0-9_`/.])((?:(?:[^\W\d_][\u0300-\u036f]?|[)|])(?:{SCRIPT})+)+)")
ONE = re.compile(r"(['′]*)([_^])(?:\{([^{}]*)\}|\(([^()]*)\)|(min|max|.))")


def inline(text):
    """Prose, escaped, with subscripts and superscripts."""
    def one(match):
        tag = "sub" if match.group(2) == "_" else "sup"
        return match.group(1).replace("'", "′") + f"<{tag}>{''.join(filter(None, match.groups()[2:]))}</{tag}>"
    return SCRIPTED.sub(lambda match: f'<span class="m">{ONE.sub(one, match.group(1))}</span>', html.escape(text, quote=False))
