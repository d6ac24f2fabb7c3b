"""The formats of coreference corpora; docs/formats.md has an example of each. Columns have a word a line, and chains
in the last one; GAP has a document a line, with spans."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from bertviz_core.corpora.coreference import Bracket, Draft, Span, parse_brackets, sentence_starts
from bertviz_core.corpora.coreference.chain_names import EntityAttributes, unnamed_chain
from bertviz_core.corpora.format_sampling import BEGIN, Survey, survey
from bertviz_core.corpora.source import Source
from bertviz_core.corpora.treebank import conll
from bertviz_core.errors import shorten
from bertviz_core.numbers import small_int

WIDE = 11  # columns from which on a row has a tag and a parse, and any number of columns more
PART = re.compile(r"(.*)\[(\d+)/\d+\]")  # one part of a discontinuous mention
ENTITY = re.compile(r"[\t|]Entity=")  # CorefUD's chains, in the column MISC
GAP_HEADER = "ID\tText\tPronoun\tPronoun-offset\t"
GAP_COLUMNS = ["A", "A-coref", "A-offset", "B", "B-coref", "B-offset", "ID", "Pronoun", "Pronoun-offset", "Text"]
WORD = re.compile(r"\w+|[^\w\s]")


def split(line: str) -> list[str]:
    """The fields of a row; tabs keep empty ones (LitBank's chains), spaces do not. Other white space, such as the
    no-break space in "10 000", is part of a word."""
    return line.split("\t") if "\t" in line else [field for field in line.split(" ") if field]


def recognizer(widths: range, blank: bool = False) -> Callable[[Survey], bool]:
    """A test of files: whether at least half of the rows have so many columns, with whole numbers as index (and part),
    chain brackets in the last one and, if `blank`, nothing between word and chains."""
    numbers = slice(1) if 3 in widths else slice(1, 3)

    def fits(text: str) -> bool:
        row = split(text)
        if len(row) not in widths or not all(field.isdigit() for field in row[numbers]):
            return False
        return parse_brackets(row[-1].strip()) is not None and (not blank or set(row[4:12]) == {"_"})

    return lambda found: 2 * found.share_of_rows(fits) >= 1


def is_semeval(found: Survey) -> bool:
    """Whether at least half of the rows are numbered words in WIDE columns or more with chain brackets in the last one,
    some of them not empty."""

    def brackets(text: str) -> list[Bracket] | None:
        row = split(text)
        is_numbered = len(row) >= WIDE and row[0].isdigit() and not row[2].isdigit()
        return parse_brackets(row[-1].strip()) if is_numbered else None

    read = list(map(brackets, found.texts))
    return any(read) and 2 * sum(each is not None for each in read) >= len(read)


def is_gap(found: Survey) -> bool:
    """Whether the first row is GAP's header."""
    return found.first[1].startswith(GAP_HEADER)


def column_words(row: str) -> Sequence[str]:
    """The word of a row of columns."""
    fields = split(row)
    is_numbered = len(fields) == 3 or (len(fields) >= WIDE and not fields[2].isdigit())
    return fields[1 if is_numbered else 3 :][:1]


def begins_file(source: Source, line: int) -> bool:
    """Whether the line is the first of another file than the one before: chains of two files are not the same."""
    return line > 1 and line in source.beginnings


def read_columns(source: Source) -> Iterator[Draft]:
    """Every document, as soon as its last row is read, and of a broken one what stands before its first broken row.
    Raises InputError naming the line of such a row where no line says where documents begin."""
    draft = Draft(source, "", 1)
    has_headers = False
    width = 0
    has_trees = is_semeval(survey(source))
    for line, text in source.lines():
        if header := BEGIN.match(text):
            yield _split_sentences(draft, width)
            draft = Draft(source, _name(header[1] or header[3] or "", header[2] or ""), line, is_bounded=True)
            has_headers = True
            continue
        if begins_file(source, line):
            yield _split_sentences(draft, width)
            draft = Draft(source, "", line)
            has_headers = False
        if not text.strip():
            draft.is_sentence_over = True
        elif not text.startswith("#") and not draft.error:
            fields = split(text)
            width = width or max(len(fields), WIDE if has_trees else 0)
            name = "" if width == 3 or has_trees else _name(*fields[:2])
            if not has_headers and name != draft.name and draft.words:
                yield draft
                draft = Draft(source, name, line)
            draft.name = draft.name or name
            with draft.reading():
                _check_width(draft, fields, width, line)
                _read_row(draft, fields, has_trees, line)
    yield _split_sentences(draft, width)


def _name(document: str, part: str = "") -> str:
    """The name of a part of a document. Each part has chains of its own."""
    number = part.lstrip("0")
    return f"{document}, part {number}" if number else document


def _check_width(draft: Draft, fields: list[str], width: int, line: int) -> None:
    """Raise InputError for a row with another number of fields than the file's; empty ones at its end are dropped."""
    while len(fields) > width and not fields[-1]:
        fields.pop()
    is_complete = len(fields) >= WIDE if width >= WIDE else len(fields) == width
    if width < 3 or not is_complete:
        expected = _expected_width(width)
        raise draft.source.error(f"The row has {len(fields)} columns{expected}", "Fix or remove the row.", line)


def _expected_width(width: int) -> str:
    """The end of a sentence about a row whose number of columns is not the file's."""
    if width < 3:
        return "; a file of chains has at least three: index, word, chains."
    # Rows of such a file may differ, and none need have the width of the first.
    return f"; rows with a parse have at least {WIDE}." if width >= WIDE else f" where the file has {width}."


def _split_sentences(draft: Draft, width: int) -> Draft:
    """The draft, with sentences by its full stops where a file of three columns marks none."""
    if width == 3 and len(draft.sentences) == 1:
        draft.sentences = sentence_starts(draft.words)
    return draft


def _read_row(draft: Draft, fields: list[str], has_trees: bool, line: int) -> None:
    """One word. SemEval, which `has_trees`, has it behind its number, and no bracketed parse."""
    word = fields[1 if has_trees or len(fields) == 3 else 3]
    tag, piece = fields[4:6] if len(fields) >= WIDE else ("", "")
    piece = "" if has_trees else piece
    draft.note_index(fields[0 if has_trees or len(fields) == 3 else 2])
    draft.begin_row(line, word, fields[-1], tag, piece)
    index = len(draft.words)
    draft.words.append(word)
    draft.tags.append(tag)
    draft.parse.append(piece)
    if has_trees:
        draft.add_governor(fields[8])
    for opens, label, closes in draft.read_brackets(fields[-1].strip(), line):
        draft.add_bracket(unnamed_chain(label, draft.source, line), opens, closes, (index, index + 1), line)


def is_corefud(found: Survey) -> bool:
    """Whether most rows are those of CoNLL-U, or of the columns that the file names, with MISC among them."""
    return conll.is_ten(found) or (conll.is_plus(found) and "MISC" in found.columns)


def has_entities(found: Survey) -> bool:
    """Whether a numbered file of such rows has chains, or a header of them."""
    return conll.is_numbered(found) and (found.has_entities or any(map(ENTITY.search, found.texts)))


def has_borders(found: Survey) -> bool:
    """Whether tabs stand between the columns of most rows, or a line begins a document: "3 apples (red)" is text."""
    return found.has_document_lines or 2 * found.share_of_rows(lambda row: "\t" in row) > 1


def corefud_columns(found: Survey) -> conll.Columns:
    """The columns that the file names, else those of CoNLL-U."""
    return conll.plus(found) if conll.is_plus(found) else conll.TEN


def corefud_words(row: str) -> Sequence[str]:
    """The word of a row; none of the rows of multi-word tokens and empty nodes."""
    number, _, rest = row.partition("\t")
    return [rest.partition("\t")[0].strip()] if number.strip().isdigit() else []


def read_corefud(source: Source) -> Iterator[Draft]:
    """Every document, or the whole file where there is no `# newdoc`: then a broken row raises InputError."""
    columns = corefud_columns(survey(source))
    draft = Draft(source, "", 1)
    attributes = EntityAttributes()
    for line, text in source.lines():
        if begins_file(source, line):
            yield draft
            draft = Draft(source, "", line)
            attributes = EntityAttributes()
        if text.startswith("#"):
            name, _, value = (part.strip() for part in text[1:].partition("="))
            if name.split()[:1] == ["newdoc"]:
                yield draft
                draft = Draft(source, value, line, is_bounded=True)
            elif name == "global.Entity":
                attributes = EntityAttributes(tuple(value.split("-")))
        elif not text.strip():
            draft.is_sentence_over = True
        elif not draft.error:
            with draft.reading():
                _read_corefud_row(draft, text, columns, attributes, line)
    yield draft


def _read_corefud_row(draft: Draft, text: str, columns: conll.Columns, attributes: EntityAttributes, line: int) -> None:
    """One word; empty nodes (`8.1`) and multi-word tokens (`5-6`) are not words."""
    fields = text.split("\t")
    if not columns.fits(text):
        what = f"The row has {len(fields)} columns; the file has {columns.width}, with tabs between them."
        raise draft.source.error(what, "Fix or remove the row.", line)
    start = len(draft.words)
    upos = "_" if columns.tag is None else fields[columns.tag]
    tag = fields[4] if upos == "_" and columns.width == conll.TEN.width else upos
    misc = fields[columns.misc or -1].strip()
    draft.note_index(fields[columns.number])
    draft.begin_row(line, fields[columns.form], tag, misc)
    if small_int(fields[columns.number].strip()) is not None:
        draft.words.append(fields[columns.form])
        draft.tags.append(tag)
        draft.add_governor(fields[columns.head])
    entities = [entry for entry in misc.split("|") if entry.startswith("Entity=")]
    for entity in entities:
        for opens, label, closes in draft.read_brackets(entity.removeprefix("Entity="), line):
            chain = attributes.chain(label, draft.source, line, opens=opens)
            part = PART.fullmatch(chain)
            if not part:
                draft.add_bracket(chain, opens, closes, (start, len(draft.words)), line)
            elif opens and part[2] == "1":
                draft.skipped.add("a discontinuous mention", f"line {line}")


def read_gap(source: Source) -> Iterator[Draft]:
    """A document a row, which may be broken."""
    lines = source.lines()
    header = next(lines)[1].split("\t")
    for line, text in lines:
        if not text.strip():
            continue
        draft = Draft(source, "", line, is_bounded=True)
        with draft.reading():
            _read_gap_row(draft, header, text.split("\t"))
        yield draft


def _read_gap_row(draft: Draft, header: Sequence[str], fields: Sequence[str]) -> None:
    """Raise InputError for a row without the columns, or one that does not fit its own text."""
    hint = f"GAP has the columns {', '.join(GAP_COLUMNS)}."
    if missing := [name for name in GAP_COLUMNS if name not in header]:
        raise draft.source.error(f"The first line names no column {' and no '.join(missing)}.", hint, 1)
    if len(fields) != len(header):
        what = f"The row has {len(fields)} columns; the first line names {len(header)}."
        raise draft.source.error(what, hint, draft.line)
    row = dict(zip(header, fields, strict=True))
    draft.name = row["ID"]
    _read_gap_text(draft, row)


def _read_gap_text(draft: Draft, row: dict[str, str]) -> None:
    """Cut the text into words, also where a name begins or ends, and find the names among them."""
    text = row["Text"]
    spans = {}  # where each name stands, in characters
    for name in ("Pronoun", "A", "B"):
        form = row[name]
        offset = row[f"{name}-offset"]
        start = small_int(offset)
        if start is None or not form.strip() or not text.startswith(form, start):
            what = f"{shorten(form, 80)!r} is not at {shorten(offset, 80)} in the text."
            raise draft.source.error(what, "Fix the offset.", draft.line)
        spans[name] = start, start + len(form)
    words: list[Span] = []  # where each word stands, in characters
    cuts = sorted({index for span in spans.values() for index in span})
    for match in WORD.finditer(text):
        inner = [cut for cut in cuts if match.start() < cut < match.end()]
        words += pairwise([match.start(), *inner, match.end()])
    draft.words = [text[start:end] for start, end in words]
    draft.sentences = sentence_starts(draft.words)
    coreferent = [name for name in ("A", "B") if _is_true(draft, row, f"{name}-coref")]
    if len(coreferent) > 1:
        what = "A-coref and B-coref are both TRUE, which would make one chain of two names."
        raise draft.source.error(what, "One name or neither is meant.", draft.line)
    for name, (start, end) in spans.items():
        inside = [index for index, (first, _) in enumerate(words) if start <= first < end]
        draft.add_mention(inside[0], inside[-1] + 1, "Pronoun" if name in coreferent else name, draft.line)


def _is_true(draft: Draft, row: dict[str, str], column: str) -> bool:
    """The cell of a column of GAP; raises InputError where it is neither TRUE nor FALSE."""
    value = row[column].strip().upper()
    if value not in ("TRUE", "FALSE"):
        what = f"{column} is {shorten(row[column], 80)!r}, neither TRUE nor FALSE."
        raise draft.source.error(what, "Write TRUE or FALSE.", draft.line)
    return value == "TRUE"
