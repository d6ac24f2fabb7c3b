"""CorefUD: CoNLL-U whose MISC column brackets the mentions in `Entity=`, with trees and tags."""

import re
from collections.abc import Iterator, Sequence

from bertviz_core.corpora.coreference.documents import Chains, CoreferenceDocument, Draft
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.corpora.source import Line, Source
from bertviz_core.numbers import small_int

COLUMNS = 10
PART = re.compile(r"(.*)\[(\d+)/\d+\]")  # one part of a discontinuous mention
DEFAULT_ORDER = "eid-etype-head-other"


def is_corefud(lines: Sequence[Line]) -> bool:
    """Whether the comments, or a row of ten columns, say so."""
    comments = any(re.match(r"#\s*(global\.Entity|newdoc|sent_id)\b", text) for _, text in lines)
    return comments or any(text.count("\t") == COLUMNS - 1 for _, text in lines)


def documents(source: Source, skipped: Skipped) -> Iterator[CoreferenceDocument]:
    """Every `# newdoc`, or the whole file where there is none; raises InputError naming the line."""
    number, index = 0, _label_place(DEFAULT_ORDER)
    draft = Draft(source, skipped, "", 1)
    for line, text in source.lines():
        if text.startswith("#"):
            name, _, value = (part.strip() for part in text[1:].partition("="))
            if name.split()[:1] == ["newdoc"]:
                if draft.words:
                    yield draft.finished(number)
                    number += 1
                draft = Draft(source, skipped, value, line)
            elif name == "global.Entity":
                index = _label_place(value)
        elif not text.strip():
            draft.over = True
        else:
            _read_row(draft, text.split("\t"), index, line)
    if draft.words:
        yield draft.finished(number)


def _label_place(order: str) -> int:
    """Index of the entity's own id among the dashed attributes: of `eid`, or of `GRP` in GUM."""
    names = order.split("-")
    return next((names.index(name) for name in ("eid", "GRP") if name in names), 0)


def _read_row(draft: Draft, fields: list[str], index: int, line: int) -> None:
    """One word; an empty node (`8.1`) is not a word, and a multi-word token (`5-6`) stands for the words after it."""
    if len(fields) != COLUMNS:
        what = f"The row has {len(fields)} columns; CoNLL-U has {COLUMNS}, with tabs between them."
        raise draft.source.error(what, "Fix or remove the row.", line)
    start, tag = len(draft.words), fields[3] if fields[3] != "_" else fields[4]
    draft.begin_row(line, fields[1], tag, fields[9])
    if small_int(fields[0]) is not None:
        draft.words.append(fields[1])
        draft.tags.append(tag)
        draft.governors.append(_governor(fields[6], draft.sentences[-1]))
    for entry in fields[9].split("|"):
        if entry.startswith("Entity="):
            _read_entity(draft.chains, entry.removeprefix("Entity="), (start, len(draft.words)), index, line)


def _governor(text: str, first: int) -> int | None:
    number = small_int(text)
    if number is None:
        return None
    return first + number - 1 if number else -1


def _read_entity(chains: Chains, text: str, span: tuple[int, int], index: int, line: int) -> None:
    for opens, attributes, closes in chains.brackets(text, line):
        names = attributes.split("-")
        label = names[index] if len(names) > index else names[-1]
        if part := PART.fullmatch(label):
            if opens and part[2] == "1":
                chains.skipped.add("a discontinuous mention", f"line {line}")
            continue
        if opens:
            chains.open(label, span[0], line)
        if closes:
            chains.close(label, span[1], line)
