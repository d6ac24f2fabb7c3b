"""Documents that spaCy or Stanza have read, without importing either: their sentences, trees and chains, and the files
that hold the same."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from bertviz_core.errors import InputError

COREFERENCE_SPANS = "coref_clusters"  # what the names of spaCy's groups of spans begin with, one group for each chain


class ParsedSentence(NamedTuple):
    """A sentence; its text is one line, unless the library does not divide the document into sentences.

    Attributes:
        text: The sentence as it was written.
        governors: The word that governs each word, from 1; 0 for the root, None without a parse.
        relations: The relation of each word to its governor; None without a parse.
        tags: Universal part of speech of each word; None where it has none.
    """

    text: str
    words: Sequence[str]
    governors: Sequence[int | None]
    relations: Sequence[str | None]
    tags: Sequence[str | None]


class ParsedDocument(NamedTuple):
    """A document; each mention of a chain is its first and its last word, counted from 0 over the document.

    Attributes:
        name: The name of its class.
        has_trees: Whether the library has parsed it.
        chains: The mentions of each chain, each as its first and its last word, from 0 in the document.
    """

    name: str
    sentences: Sequence[ParsedSentence]
    has_trees: bool
    chains: Sequence[Sequence[tuple[int, int]]]


def is_document(value: object) -> bool:
    """Whether it is a Doc or a Span of spaCy, or a Document of Stanza."""
    return _is_spacy(value) or (hasattr(value, "sentences") and hasattr(value, "num_words"))


def _is_spacy(value: object) -> bool:
    return hasattr(value, "has_annotation") or hasattr(value, "as_doc")


def read_document(value: Any) -> ParsedDocument:
    """What an object has for which `is_document` is true."""
    if not _is_spacy(value):
        return _read_stanza(value)
    return _read_spacy(value.as_doc() if hasattr(value, "as_doc") else value)


def to_lines(value: Any) -> str:
    """Its text, a line for each sentence."""
    return "\n".join(sentence.text for sentence in read_document(value).sentences)


def to_conllu(value: Any, where: str) -> str:
    """Its trees as a document of CoNLL-U. Raises InputError without a parse."""
    document = read_document(value)
    if not document.has_trees:
        hint = "Run a pipeline with a parser, or give it to an analysis of text."
        raise InputError(f"This {document.name} has no dependency parse.", where=where, hint=hint)
    sentences = [_conllu_sentence(sentence) for sentence in document.sentences if sentence.words]
    return "# newdoc\n" + "".join(sentences) if sentences else ""


def to_chains(value: Any) -> str:
    """Its chains as a line of JSON, see docs/formats.md."""
    document = read_document(value)
    sentences = [list(sentence.words) for sentence in document.sentences if sentence.words]
    record = {"sentences": sentences, "clusters": document.chains}
    return json.dumps(record, ensure_ascii=False) + "\n" if sentences else ""


def _conllu_sentence(sentence: ParsedSentence) -> str:
    rows = [f"# text = {_joined(sentence.text)}"]
    columns = zip(sentence.words, sentence.governors, sentence.relations, sentence.tags, strict=True)
    for number, (word, governor, relation, tag) in enumerate(columns, start=1):
        head = "_" if governor is None else governor
        rows.append(f"{number}\t{_joined(word)}\t_\t{tag or '_'}\t_\t_\t{head}\t{relation or '_'}\t_\t_")
    return "\n".join(rows) + "\n\n"


def _joined(text: str) -> str:
    return " ".join(text.split())


def _read_spacy(doc: Any) -> ParsedDocument:
    has_sentences = doc.has_annotation("SENT_START")
    spans = list(doc.sents) if has_sentences else [doc[:]]
    sentences = [_spacy_sentence(span, _joined(span.text) if has_sentences else doc.text) for span in spans]
    return ParsedDocument("Doc", sentences, doc.has_annotation("DEP"), list(_spacy_chains(doc)))


def _spacy_sentence(span: Any, text: str) -> ParsedSentence:
    """A sentence without its tokens of white space, which are no words."""
    tokens = [token for token in span if not token.is_space]
    numbers = {token.i: number for number, token in enumerate(tokens, start=1)}
    return ParsedSentence(
        text=text,
        words=[token.text for token in tokens],
        governors=[_spacy_governor(token, numbers) for token in tokens],
        relations=[token.dep_ for token in tokens],
        tags=[token.pos_ for token in tokens],
    )


def _spacy_governor(token: Any, numbers: dict[int, int]) -> int:
    """The number of the word that governs a token, through white space; 0 for the root. A word of another sentence gets
    a number beyond this one, at which readers skip and count the sentence."""
    governor = token.head
    if governor.i == token.i:
        return 0
    while governor.is_space:
        if governor.head.i == governor.i:
            return 0
        governor = governor.head
    return numbers.get(governor.i, len(numbers) + 1)


def _spacy_chains(doc: Any) -> Iterator[list[tuple[int, int]]]:
    words = [token.i for token in doc if not token.is_space]
    numbers = {index: number for number, index in enumerate(words)}
    for name in sorted(doc.spans):
        if name.startswith(COREFERENCE_SPANS):
            mentions = [[numbers[i] for i in range(span.start, span.end) if i in numbers] for span in doc.spans[name]]
            yield [(mention[0], mention[-1]) for mention in mentions if mention]


def _read_stanza(document: Any) -> ParsedDocument:
    sentences = [_stanza_sentence(sentence) for sentence in document.sentences]
    has_trees = any(governor is not None for sentence in sentences for governor in sentence.governors)
    return ParsedDocument("Document", sentences, has_trees, list(_stanza_chains(document)))


def _stanza_sentence(sentence: Any) -> ParsedSentence:
    words = sentence.words
    forms = [word.text for word in words]
    text = sentence.text or " ".join(forms)
    governors = [word.head for word in words]
    return ParsedSentence(
        text=_joined(text),
        words=forms,
        governors=governors,
        relations=[w.deprel for w in words],
        tags=[w.upos for w in words],
    )


def _stanza_chains(document: Any) -> Iterator[list[tuple[int, int]]]:
    first = [0]  # the first word of each sentence
    for sentence in document.sentences:
        first.append(first[-1] + len(sentence.words))
    for chain in getattr(document, "coref", None) or []:
        # Other mentions are zeros.
        mentions = [mention for mention in chain.mentions if isinstance(mention.start_word, int)]
        starts = [first[mention.sentence] for mention in mentions]
        yield [(s + mention.start_word, s + mention.end_word - 1) for s, mention in zip(starts, mentions, strict=True)]
