"""Coreference as JSON, a document a line: e2e-coref's jsonlines, with words or with wordpieces, and PreCo's."""

import json
import re
import reprlib
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain, groupby
from typing import Any

from bertviz_core.corpora.coreference import Draft, Span, sentence_starts
from bertviz_core.corpora.format_sampling import OBJECT, Survey
from bertviz_core.corpora.source import Source, replace_surrogates
from bertviz_core.corpora.word_checks import SPECIAL, WHOLE_WORDS
from bertviz_core.errors import InputError

SENTENCES = re.compile(r'"sentences"\s*:')
CLUSTERS = re.compile(r'"(?:mention_)?clusters"\s*:')
SUBTOKENS = "subtoken_map"
MIN_SPANS = 20  # mentions of a file, from which on one of them has a single word
BYTE_LEVEL = "Ġ"
Words = tuple[list[str], list[int], list[int | None]]  # words, first words of sentences, the word of each token


def is_jsonlines(survey: Survey) -> bool:
    """Whether most lines are JSON objects."""
    return 2 * survey.share_of_rows(OBJECT.match) >= 1


def has_documents(survey: Survey) -> bool:
    """Whether most lines are objects with sentences and chains."""
    return (
        2 * survey.share_of_rows(lambda row: OBJECT.match(row) and SENTENCES.search(row) and CLUSTERS.search(row)) >= 1
    )


def read_jsonlines(source: Source) -> Iterator[Draft]:
    """A document a line, which may be broken."""
    for line, text in source.lines():
        if not text.strip():
            continue
        draft = Draft(source, "", line, is_bounded=True)
        with draft.reading():
            _read_object(draft, _object(text, source, line))
        yield draft


def _read_object(draft: Draft, value: dict[str, Any]) -> None:
    key = value.get("doc_key", value.get("id"))
    draft.name = replace_surrogates(str(key)) if key and isinstance(key, str | int) else ""
    draft.words, draft.sentences, numbers = _words(value, draft.source, draft.line)
    for label, cluster in enumerate(_clusters(value, draft.source, draft.line)):
        for span in cluster:
            start, end = _span(draft, span, numbers)
            draft.add_mention(start, end, str(label), draft.line)


def words_of(row: str) -> Sequence[str]:
    """The words of a line; none of a line that cannot be read, or was cut."""
    try:
        value = json.loads(row)
        source = Source("", "", 0)
        return _words(value, source, 1)[0] if _is_document(value) else []
    except (ValueError, RecursionError, InputError):
        return []


def _is_document(value: Any) -> bool:
    sentences: Any = value.get("sentences") if isinstance(value, dict) else None
    return _is_nested(sentences) and all(isinstance(word, str) for word in chain.from_iterable(sentences))


def _object(text: str, source: Source, line: int) -> dict[str, Any]:
    """The object of a line; raises InputError where its words have another shape."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        # Both come from numbers of thousands of digits or from thousands of nested lists.
        raise source.error("The line is not JSON.", "Write one object per line.", line) from error
    if not _is_document(value):
        hint = 'Write {"sentences": [["A", "word"]]}.'
        raise source.error("`sentences` is not a list of lists of words.", hint, line)
    result: dict[str, Any] = value
    return result


def _is_nested(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(part, list) for part in value)


def _words(value: dict[str, Any], source: Source, line: int) -> Words:
    """The words of a document, put together from wordpieces where `subtoken_map` says of which word each is one."""
    tokens = [replace_surrogates(word) for sentence in value["sentences"] for word in sentence]
    lengths = [len(sentence) for sentence in value["sentences"] if sentence]
    if SUBTOKENS not in value:
        return tokens, list(accumulate(lengths[:-1], initial=0)), list(range(len(tokens)))
    numbers = value[SUBTOKENS]
    sentence_map = value.get("sentence_map")
    for name, given in ((SUBTOKENS, numbers), ("sentence_map", sentence_map or [0] * len(tokens))):
        is_list = isinstance(given, list) and len(given) == len(tokens)
        if not is_list or not all(type(n) is int for n in given) or given != sorted(given):
            what = f"`{name}` is not a list of a number for each of the {len(tokens)} wordpieces that never falls."
            raise source.error(what, WHOLE_WORDS, line)
    pieces = [index for index, token in enumerate(tokens) if not SPECIAL.fullmatch(token)]
    if any(BYTE_LEVEL in tokens[index] for index in pieces):
        raise source.error("The wordpieces are bytes, as GPT-2 and RoBERTa write them.", WHOLE_WORDS, line)
    words = [list(group) for _, group in groupby(pieces, key=numbers.__getitem__)]
    word_of: list[int | None] = [None] * len(tokens)
    for number, group in enumerate(words):
        for index in group:
            word_of[index] = number
    forms = ["".join(_unmarked(tokens[i], i == group[0]) for i in group) for group in words]
    if not sentence_map:
        return forms, sentence_starts(forms), word_of
    firsts = [group[0] for group in words]
    starts = [n for n, first in enumerate(firsts) if not n or sentence_map[first] != sentence_map[firsts[n - 1]]]
    return forms, starts, word_of


def _unmarked(piece: str, is_first: bool) -> str:
    """A wordpiece without the mark of BERT's or SentencePiece's vocabularies."""
    return piece.removeprefix("▁") if is_first else piece.removeprefix("##")


def _clusters(value: dict[str, Any], source: Source, line: int) -> list[list[Any]]:
    """The chains, with [first, last] of the document's words; PreCo has [sentence, first, end]."""
    name = "mention_clusters" if "clusters" not in value and "mention_clusters" in value else "clusters"
    if "clusters" not in value and name == "clusters":
        keys = ", ".join(list(map(str, value))[:8])
        what = f"The object has neither `clusters` nor `mention_clusters`; it has {keys}."
        raise source.error(what, 'Write {"clusters": [[[0, 1], [5, 5]]]}.', line)
    clusters = value[name] or []
    if not _is_nested(clusters):
        hint = 'Write {"clusters": [[[0, 1], [5, 5]]]}.'
        raise source.error(f"`{name}` is not a list of lists of spans.", hint, line)
    if name == "clusters":
        return clusters
    starts = list(accumulate(map(len, value["sentences"]), initial=0))
    return [[_in_document(span, starts) for span in cluster] for cluster in clusters]


def _in_document(span: Any, starts: Sequence[int]) -> Any:
    """[first, last] in the document of PreCo's [sentence, first, end]; another value as it is, to be refused."""
    if not (isinstance(span, list) and len(span) == 3 and all(type(index) is int for index in span)):
        return span
    sentence, first, end = span
    if not (0 <= sentence < len(starts) - 1 and 0 <= first < end <= starts[sentence + 1] - starts[sentence]):
        return span
    return [starts[sentence] + first, starts[sentence] + end - 1]


def _span(draft: Draft, span: Any, word_of: Sequence[int | None]) -> Span:
    """The words of a mention; raises InputError for another value than a span of tokens, which may be pieces."""
    size = len(word_of)
    is_pair = isinstance(span, list) and len(span) == 2 and all(type(index) is int for index in span)
    if is_pair and 0 <= span[0] <= span[1] < size:
        first, last = (word_of[index] for index in span)
        if first is not None and last is not None:
            return first, last + 1
    what = f"{reprlib.repr(span)} is not a span of the document's {size} words."
    hint = "Write [first, last], counted from 0 over all sentences; in `mention_clusters` [sentence, first, end]."
    raise draft.source.error(what, hint, draft.line)


def seem_exclusive(survey: Survey) -> bool:
    """Whether spans of `clusters` seem to be [first, end]: among MIN_SPANS or more, none has one token."""
    spans = list(chain.from_iterable(map(_spans, survey.texts)))
    return len(spans) >= MIN_SPANS and all(first < last for first, last in spans)


def _spans(row: str) -> list[tuple[int, int]]:
    """The spans in `clusters` of a line; none of a line that cannot be read, or was cut."""
    try:
        clusters = json.loads(row)["clusters"]
        return [(first, last) for cluster in clusters for first, last in cluster if type(first) is type(last) is int]
    except (ValueError, TypeError, KeyError, RecursionError):
        return []
