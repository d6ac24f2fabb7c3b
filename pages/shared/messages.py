"""Errors, notes and other texts as Markdown, in which nothing that came from a file is read as markup."""

import re
from functools import lru_cache
from pathlib import Path

import streamlit as st

from bertviz_core.errors import BertvizError
from bertviz_core.inputs.tokens import joined_pieces
from bertviz_core.text_display import isolated
from pages.shared import services

# Where to break bare addresses; not behind the @ of model@step0, which is copied, and is none without a dot.
ADDRESS = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?<=@)(?=[-.\w]*\.\w)", re.IGNORECASE)
CODE = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"(?<![\w./:])(?:/[^/\s'\"“”]+)+/?")


@lru_cache(maxsize=4096)  # the same few hundred texts with every run of a page
def plain(text: str) -> str:
    """Escape a text for Markdown, and isolate it from text of another writing direction."""
    unlinked = ADDRESS.sub("\u2060", isolated(text))  # a backslash does not keep a bare address from becoming a link
    return "".join(f"\\{c}" if c in "\\`*_{}[]()#+-.!|<>$~:" else c for c in unlinked)


def joined(tokens: str) -> str:
    """Tokens with spaces between them as Markdown text, in which the pieces of a word are joined."""
    return plain(joined_pieces(tokens))


def error(problem: BertvizError) -> None:
    """Draw an error: where, what, and what to do."""
    where = f"**{_without_folders(problem.where)}**  \n" if problem.where else ""
    st.error(f"{where}{_without_folders(problem.what)}  \n{_with_code(problem.hint)}", icon=":material/error:")


def note(problem: BertvizError) -> None:
    """Draw what is not possible here, and what to do, as a note."""
    st.info(f"{_without_folders(problem.what)} {_with_code(problem.hint)}", icon=":material/info:")


def _with_code(hint: str) -> str:
    """Escape what to do; what it has between backticks, such as a command, stays code."""
    parts = CODE.split(_shortened(hint))
    return "".join(f"`{part}`" if index % 2 else plain(part) for index, part in enumerate(parts))


def _without_folders(text: str) -> str:
    """Escape an error text; on a public server only the last name of each path is left."""
    return plain(_shortened(text))


def _shortened(text: str) -> str:
    """A text as it is, or on a public server with the last name of each path alone."""
    return PATH.sub(lambda path: Path(path[0]).name, text) if services.access().public else text
