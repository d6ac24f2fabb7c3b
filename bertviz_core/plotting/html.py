"""HTML documents that ask nothing of any server, and their elements; every text in an element is escaped."""

import re
from collections.abc import Sequence
from html import escape

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:"
# Of pages that share files beside them, on a disk too; what stands in a page itself is never run.
SITE_POLICY = (
    "default-src 'none'; style-src 'self' file: 'unsafe-inline'; script-src 'self' file:; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)


def document(
    title: str, *sections: str, style: str, head: str = "", runs_scripts: bool = False, policy: str = POLICY
) -> str:
    """An HTML document that loads nothing but what its policy allows.

    Args:
        title: Its title, as text.
        sections: HTML of its body.
        style: Its CSS.
        head: Further HTML of its head.
        runs_scripts: Whether the scripts inside it are run.
        policy: What it may load.
    """
    policy = f"{policy}; script-src 'unsafe-inline'" if runs_scripts else policy
    first = (
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width">',
        element("title", title),
        f"<style>{style}</style>" if style else "",
    )
    heading, body = "".join((*first, head)), "".join(sections)
    return f'<!doctype html>\n<html lang="en"><head>{heading}</head>\n<body>{body}</body></html>\n'


def element(name: str, text: str) -> str:
    """A text in an element; `name` is such as "h2" or "p class=strong"."""
    return f"<{name}>{escape(text)}</{name.partition(' ')[0]}>"


def bullets(items: Sequence[str]) -> str:
    """Texts as a list; empty for none."""
    return f"<ul>{''.join(element('li', item) for item in items)}</ul>" if items else ""


def table(caption: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of texts with its caption above; each row is as long as the header."""

    def cell(text: str) -> str:
        is_number = re.fullmatch(r"[+\-–]?[\d,.]*%?", text)
        return element("td class=number" if is_number else "td", text)

    above = element("p class=caption", caption) if caption else ""
    head = "".join(element("th", name) for name in header)
    lines = ("".join(map(cell, row)) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f'{above}<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
