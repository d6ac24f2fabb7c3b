"""What all pages of the site share: the frame around their contents, links to heads, and the files beside them."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import quote

from plotly.offline import get_plotlyjs

from bertviz_core.heads import link_heads
from bertviz_core.one_head.files import LOOK
from bertviz_core.plotting.browser import FOLDER, THEME_CSS, text_of
from bertviz_core.plotting.drawing import FIGURES, PRINT_CSS
from bertviz_core.plotting.html import SITE_POLICY, document, element

HERE = Path(__file__).parent
FILES = "assets"  # the folder of scripts and styles
PAGES, HEADS, MAP = ("pages.css", "heads.css", "map.css")
FIGURE_SCRIPTS = ("plotly.js", "figures.js")
OVERVIEW_SCRIPTS = ("overview.js",)
WEB = ("https://", "http://")
TAG = re.compile(r"(<[^>]*>)")
UNTOUCHED = ("a", "h1", "script", "style", "svg", "title")  # elements in which heads are no links
ICON = '<link rel="icon" href="data:,">'


@dataclass(frozen=True)
class Frame:
    """What stands around the contents of a page.

    Attributes:
        title: In the tab of a browser.
        root: The address of the site's folder from this page, as "../"; empty for a page of that folder.
        home: The address of the page above the site, from the site's folder; empty for none.
        trail: The pages above this one in the site, from the first: address and name.
        before, after: Address and name of the pages before and after it; None without.
        styles, scripts: Files of the folder FILES.
        heads: The address of the folder of the heads' pages, to which figures lead; empty for none.
    """

    title: str
    root: str
    home: str
    trail: Sequence[tuple[str, str]] = ()
    before: tuple[str, str] | None = None
    after: tuple[str, str] | None = None
    styles: Sequence[str] = (PAGES,)
    scripts: Sequence[str] = ()
    heads: str = ""

    def page(self, *sections: str) -> bytes:
        """The page with these sections of HTML."""
        files = f"{self.root}{FILES}/"
        head = [f'<link rel="stylesheet" href="{files}{name}">' for name in self.styles]
        head += [f'<script src="{files}{name}" defer></script>' for name in self.scripts]
        of_heads = f' data-heads="{escape(self.heads)}"' if self.heads else ""
        main = f"<main{of_heads}>{''.join(sections)}</main>"
        head_html = "".join((*head, ICON))
        page = document(self.title, self._navigation(), main, style="", head=head_html, policy=SITE_POLICY)
        return page.encode("utf-8", "replace")

    def _navigation(self) -> str:
        to = self.home if self.home.startswith(WEB) else self.root + self.home
        home = [f'<a href="{escape(to)}">Home</a>'] if self.home else []
        trail = " › ".join([*home, *(anchor(href, name) for href, name in self.trail)])
        sides = [anchor(*self.before, "prev")] if self.before else []
        sides += [anchor(*self.after, "next")] if self.after else []
        return f'<nav aria-label="Site"><span>{trail}</span><span class="sides">{" ".join(sides)}</span></nav>'


def anchor(href: str, text: str, rel: str = "") -> str:
    """A link within the site; `rel` is "prev" or "next" for its neighbors."""
    name = f"‹ {text}" if rel == "prev" else f"{text} ›" if rel == "next" else text
    relation = f' rel="{rel}"' if rel else ""
    return f'<a href="{escape(quote(href, safe="/#.-_~"))}"{relation}>{escape(name)}</a>'


def with_links(page: str, keys: Collection[str], heads: str) -> str:
    """HTML, whose texts are escaped, in which each head that a sentence names leads to its page.

    Args:
        keys: The keys of the heads that have a page.
        heads: The address of the folder of these pages.
    """
    inside: list[str] = []  # the untouched elements around a text
    parts = TAG.split(page)
    for place, part in enumerate(parts):
        if place % 2:
            _enter(inside, part)
        elif not inside:
            parts[place] = link_heads(
                part, lambda key: anchor(f"{heads}{key}.html", key) if key in keys else key, lambda text: text
            )
    return "".join(parts)


def _enter(inside: list[str], tag: str) -> None:
    name = re.split(r"[\s/>]", tag.lstrip("</"), maxsplit=1)[0]
    if name not in UNTOUCHED or tag.endswith("/>"):
        return
    if not tag.startswith("</"):
        inside.append(name)
    elif name in inside:
        inside.remove(name)


def folded(title: str, *sections: str, is_open: bool = False) -> str:
    """Sections under a title that opens them."""
    state = " open" if is_open else ""
    return f"<details{state}>{element('summary', title)}{''.join(sections)}</details>"


def shared_files() -> Iterator[tuple[str, bytes]]:
    """Scripts and styles of all pages, each once."""
    own = text_of(HERE / "pages.css")
    texts = {
        PAGES: PRINT_CSS + own,
        HEADS: THEME_CSS + LOOK + own,
        MAP: text_of(FOLDER / "head_map.css") + text_of(HERE / "overview.css"),
        "plotly.js": get_plotlyjs(),
        "figures.js": text_of(FIGURES),
        "overview.js": _overview_script(),
    }
    for name, text in texts.items():
        yield f"{FILES}/{name}", text.encode()
    # Without it GitHub Pages makes another page of the dataset card.
    yield ".nojekyll", b""


def _overview_script() -> str:
    """The map of heads, the finder and the scatter as one script; browsers load no modules from a disk."""
    drawn = ("elements.js", "head_map_card.js", "head_map_cells.js", "head_map.js")
    own = ("finder.js", "scatter.js", "overview.js")
    texts = [*(text_of(FOLDER / name) for name in drawn), *(text_of(HERE / name) for name in own)]
    return f"(() => {{\n{''.join(texts).replace('export default mount;', '')}}})();\n"
