"""The links of a folder of pages, followed one by one."""

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote


class Links(HTMLParser):
    """What a page leads to and loads, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value and not value.startswith("data:"):
                self.targets.append(value)
            if name == "id" and value:
                self.anchors.add(value)


def broken(folder: Path) -> list[str]:
    """The links of all pages of a folder that lead out of it, or to no file, or to no anchor of a page."""
    pages = {path: Links(path.read_text("utf-8")) for path in folder.rglob("*.html")}
    assert pages
    found = []
    for page, links in pages.items():
        for target in links.targets:
            name, _, anchor = unquote(target).partition("#")
            path = (page.parent / name).resolve() if name else page
            is_there = path.is_file() and path.is_relative_to(folder.resolve())
            if not is_there or (anchor and anchor not in pages[path].anchors):
                found.append(f"{page.relative_to(folder)}: {target}")
    return found
