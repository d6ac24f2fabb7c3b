"""Errors and notes, in the project's words; nothing that came from a file is ever read as markup."""

import re
from pathlib import Path

import streamlit as st

from bertviz_core.errors import BertvizError
from bertviz_core.models.labels import isolated
from bertviz_core.models.tokens import BYTES, SPACE_MARKS
from pages.shared import services

ADDRESS = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?<=@)", re.IGNORECASE)  # where Markdown's bare addresses break
PATH = re.compile(r"(?<![\w./:])(?:/[^/\s'\"“”]+)+/?")


def plain(text: str) -> str:
    """Escape a text for Markdown, and keep it apart from text of another writing direction."""
    apart = ADDRESS.sub("\u2060", isolated(text))  # a backslash does not keep a bare address from becoming a link
    return "".join(f"\\{c}" if c in "\\`*_{}[]()#+-.!|<>$~:" else c for c in apart)


def joined(tokens: str) -> str:
    """Tokens between spaces as text: the pieces of a word together, and nothing in them markup."""
    if any(mark in tokens for mark in SPACE_MARKS) and " ##" not in tokens:
        text = tokens.replace(" ", "")
        text = bytes(map(BYTES.__getitem__, text)).decode(errors="replace") if BYTES.keys() >= set(text) else text
        return plain(" ".join(text.replace("▁", " ").split()))
    return plain(re.sub(r"(?<!\]) ##", "", tokens))  # [CLS] and [SEP] have no further pieces


def error(problem: BertvizError) -> None:
    """Draw an error: what happened, where, and what to do."""
    where = f"**{_without_folders(problem.where)}**  \n" if problem.where else ""
    st.error(f"{where}{_without_folders(problem.what)}  \n{_without_folders(problem.hint)}", icon=":material/error:")


def note(problem: BertvizError) -> None:
    """Draw a note on what is not available, and a hint; it is not an error."""
    st.info(f"{_without_folders(problem.what)} {_without_folders(problem.hint)}", icon=":material/info:")


def _without_folders(text: str) -> str:
    """Escape an error text; on a public server paths are the names at their ends, whether they exist or not."""
    return plain(PATH.sub(lambda path: Path(path[0]).name, text) if services.access().public else text)
