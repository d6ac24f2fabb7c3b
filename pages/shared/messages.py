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
    st.error(f"{where}{_without_folders(problem.what)}  \n{_without_folders(problem.hint)}", icon=":material/error:")


def note(problem: BertvizError) -> None:
    """Draw what is not possible here, and what to do, as a note."""
    st.info(f"{_without_folders(problem.what)} {_without_folders(problem.hint)}", icon=":material/info:")


def _without_folders(text: str) -> str:
    """Escape an error text; on a public server only the last name of each path is left."""
    if services.access().public:
        text = PATH.sub(lambda path: Path(path[0]).name, text)
    return plain(text)
