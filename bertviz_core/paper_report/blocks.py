"""What a report is made of, each as HTML and as Markdown; every text is plain and nothing in it is markup."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import plotly.graph_objects as go

from bertviz_core.plotting.drawing import drawn

FIGURES = "figures"  # folder of the pictures of a report in Markdown
SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$])")


def marked(text: str) -> str:
    """Escape a text for Markdown, on one line."""
    return SPECIAL.sub(r"\\\1", " ".join(text.split())).replace("&", "&amp;")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: `level` is 1 for the title, 2 for a section, 3 inside one."""

    text: str
    level: int = 2

    def html(self) -> str:
        return f"<h{self.level}>{escape(self.text)}</h{self.level}>"

    def markdown(self) -> str:
        return f"{'#' * self.level} {marked(self.text)}"


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph; `strong` where it is the claim of a section."""

    text: str
    strong: bool = False

    def html(self) -> str:
        return f"<p{' class=strong' if self.strong else ''}>{escape(self.text)}</p>"

    def markdown(self) -> str:
        return f"**{marked(self.text)}**" if self.strong else marked(self.text)


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list of items."""

    items: Sequence[str]

    def html(self) -> str:
        return f"<ul>{''.join(f'<li>{escape(item)}</li>' for item in self.items)}</ul>"

    def markdown(self) -> str:
        return "\n".join(f"- {marked(item)}" for item in self.items)


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its caption above; `rows` are cells as they are shown, each row as long as the header."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def html(self) -> str:
        caption = f'<p class="caption">{escape(self.caption)}</p>' if self.caption else ""
        head = "".join(f"<th>{escape(name)}</th>" for name in self.header)
        rows = "".join(f"<tr>{''.join(map(_html_cell, row))}</tr>" for row in self.rows)
        return f'{caption}<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'

    def markdown(self) -> str:
        caption = [f"*{marked(self.caption)}*", ""] if self.caption else []
        head, *rows = (f"| {' | '.join(map(marked, row))} |" for row in (self.header, *self.rows))
        return "\n".join([*caption, head, f"| {' | '.join(['---'] * len(self.header))} |", *rows])


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure with its caption; `name` is that of its file, without suffix."""

    name: str
    figure: go.Figure
    caption: str

    def html(self) -> str:
        return f"<figure>{drawn(self.figure)}<figcaption>{escape(self.caption)}</figcaption></figure>"

    def markdown(self) -> str:
        caption = marked(self.caption)
        return f"![{caption}]({FIGURES}/{self.name}.svg)\n\n*{caption}*"


@dataclass(frozen=True, slots=True)
class Code:
    """Lines that readers copy."""

    text: str

    def html(self) -> str:
        return f"<pre>{escape(self.text)}</pre>"

    def markdown(self) -> str:
        return f"```\n{self.text}\n```"


Block = Heading | Paragraph | Bullets | Table | Picture | Code


def _html_cell(text: str) -> str:
    number = re.fullmatch(r"[+\-–]?[\d,.]*%?", text) is not None
    return f"<td{' class=number' if number else ''}>{escape(text)}</td>"
