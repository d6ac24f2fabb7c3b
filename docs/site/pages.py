"""The documentation as pages of HTML: every file that README.md leads to."""

import re
from collections.abc import Callable
from html import escape
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.anchors import anchors_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin

from bertviz_core.plotting.html import element

ROOT = Path(__file__).parents[2]
FIRST = "README.md"  # which becomes index.html
STYLE = "site.css"
MENU = {
    "Guided tour": "tour.html",
    "Heads": "atlas/index.html",
    "Pages": "docs/pages.html",
    "Library": "docs/library.html",
    "Commands": "docs/cli.html",
    "Methods": "docs/methods.html",
    "Formats": "docs/formats.html",
    "Models": "docs/models.html",
    "Hosting": "docs/deploy.html",
    "API": "api/bertviz_core.html",
    "Code": "ARCHITECTURE.html",
}
ALSO = ("docs/release.md", "docs/lecture.md")  # which README.md may lead to or not
HOME = "What does it look at?"


def slug(heading: str) -> str:
    """The id of a heading, which links on code hosts have too."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def formula(text: str, options: dict[str, bool]) -> str:
    """A formula as MathML, which browsers draw themselves."""
    return convert(text, display="block" if options.get("display_mode") else "inline")


def markdown() -> MarkdownIt:
    """What reads the documentation."""
    reader = MarkdownIt("commonmark").enable("table")
    reader.use(anchors_plugin, max_level=4, slug_func=slug)
    return reader.use(dollarmath_plugin, renderer=formula, double_inline=True)


def target(address: str, page: PurePosixPath) -> str | None:
    """The file of the checkout that a link of a page leads to; None for another site, or the page itself."""
    path = unquote(address.partition("#")[0])
    if not path or re.match(r"[a-z]+:", path):
        return None
    parts: list[str] = []
    for part in (page.parent / path).parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


def written(path: str) -> str:
    """The file of the site that a file of the checkout becomes: a page its HTML, a folder the page in it."""
    if (ROOT / path).is_dir():
        path = f"{path}/{FIRST}"
    if path == FIRST:
        return "index.html"
    return path.removesuffix(".md") + ".html" if path.endswith(".md") else path


def relinked(tokens: list[Token], page: PurePosixPath, found: Callable[[str], None]) -> None:
    """Have the links and pictures of a page lead to files of the site, each of which is `found`."""
    for token in tokens:
        relinked(token.children or [], page, found)
        name = {"link_open": "href", "image": "src"}.get(token.type, "")
        address = str(token.attrs.get(name, ""))
        if name and (path := target(address, page)):
            found(path)
            anchor = address[len(address.partition("#")[0]) :]
            token.attrs[name] = "../" * (len(page.parts) - 1) + written(path) + anchor


def menu(page: str) -> str:
    """The links to the parts of the site, relative to a page of it."""
    up = "../" * page.count("/")
    current = ' aria-current="page"'
    links = [(HOME, "index.html"), *MENU.items()]
    items = (f'<a href="{up}{to}"{current if to == page else ""}>{escape(name)}</a>' for name, to in links)
    return f'<nav aria-label="Site">{"".join(items)}</nav>'


def document(title: str, page: str, body: str, head: str = "") -> str:
    """A page of the site, which asks no other site for anything."""
    policy = "default-src 'self' data:; style-src 'self' 'unsafe-inline'; script-src 'self' 'unsafe-inline'"
    up = "../" * page.count("/")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f'<meta name="viewport" content="width=device-width">{element("title", title)}'
        f'<link rel="icon" href="{up}icon.svg"><link rel="stylesheet" href="{up}{STYLE}">{head}</head>\n'
        f"<body>{menu(page)}<main>{body}</main></body></html>\n"
    )


def page_of(path: str, found: Callable[[str], None]) -> str:
    """A Markdown file of the checkout as a page; files that it leads to are `found`."""
    reader, settings = markdown(), {}
    tokens = reader.parse((ROOT / path).read_text("utf-8"), settings)
    relinked(tokens, PurePosixPath(path), found)
    html = reader.renderer.render(tokens, reader.options, settings)
    html = html.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")
    heading = next(
        (tokens[place + 1].content for place, each in enumerate(tokens) if each.type == "heading_open"), path
    )
    title = heading if path == FIRST else f"{heading} · {HOME}"
    return document(title, written(path), html)


def write(folder: Path) -> None:
    """Write every page and file that README.md leads to, and those that these lead to."""
    waiting = [FIRST, *ALSO]
    paths: set[str] = set()
    while waiting:
        path = waiting.pop()
        if (ROOT / path).is_dir():
            path = f"{path}/{FIRST}"
        if path in paths:
            continue
        paths.add(path)
        out = folder / written(path)
        out.parent.mkdir(parents=True, exist_ok=True)
        if path.endswith(".md"):
            out.write_text(page_of(path, waiting.append), "utf-8")
        else:
            out.write_bytes((ROOT / path).read_bytes())
