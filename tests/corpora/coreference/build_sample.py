"""Build the two standard forms of the sample coreference corpus from its readable source.

People correct brackets in a text, programs read columns: `coreference.txt` is the only form that is
edited by hand, and this script rewrites `coreference.conll` (CoNLL-2012) and `coreference.conllu`
(CorefUD) beside it, so that the three can never disagree. Run it after every edit of the text:

    python -m tests.corpora.coreference.build_sample

The text has one sentence per line, tokens apart by spaces; a document begins with `# doc NAME`, and
`[3 the old baker ]` is a mention of chain 3, mentions nest. Spans and indices count from 0, ends included.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bertviz_core.corpora.files import FOLDER

SOURCE = FOLDER / "coreference.txt"
# fmt: off
PERSONAL = {
    "i", "me", "we", "us", "you", "he", "him", "she", "it", "they", "them", "myself",
    "ourselves", "yourself", "himself", "herself", "itself", "themselves", "mine", "ours",
    "yours", "hers", "theirs",
}
POSSESSIVE = {"my", "our", "your", "his", "its", "their"}
# "her" before one of these, or before punctuation, is an object ("saw her at the gate"), not a possessor.
AFTER_OBJECT_HER = {
    "a", "about", "after", "and", "as", "asleep", "at", "because", "before", "but", "by",
    "calm", "for", "from", "if", "in", "on", "or", "so", "that", "the", "to", "tonight",
    "under", "until", "when", "while", "with",
}
# fmt: on
UNIVERSAL = {"NNP": "PROPN", "PRP": "PRON", "PRP$": "PRON"}
OPENING = re.compile(r"\[(\d+)")


class AnnotationError(ValueError):
    """The text breaks the bracket notation; the message names the line to correct."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"{SOURCE.name}, line {line}: {problem}")


@dataclass(frozen=True, slots=True)
class Mention:
    """One span of a chain: the indices of its first and last word in the sentence."""

    start: int
    end: int
    chain: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words, and mentions ordered by (start, -end): outer before inner."""

    words: tuple[str, ...]
    mentions: tuple[Mention, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A named run of sentences; chain numbers mean something only inside it."""

    name: str
    sentences: list[Sentence] = field(default_factory=list)


def read_documents(text: str) -> list[Document]:
    """Read the bracketed text; every complaint carries a line number, as the text is edited by hand."""
    documents: dict[str, Document] = {}
    current: Document | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("#"):
            current = open_document(line, number, documents)
        elif line.strip():
            if current is None:
                raise AnnotationError(number, "text before the first '# doc NAME'")
            current.sentences.append(read_sentence(line, number))
    return list(documents.values())


def open_document(line: str, number: int, documents: dict[str, Document]) -> Document:
    """Start a document; names identify documents in both built forms, so each may occur once."""
    match = re.fullmatch(r"# doc ([a-z0-9]+(?:-[a-z0-9]+)*)\s*", line)
    if match is None:
        raise AnnotationError(number, f"expected '# doc lower-case-name', found {line!r}")
    if match[1] in documents:
        raise AnnotationError(number, f"a second document named {match[1]!r}")
    return documents.setdefault(match[1], Document(match[1]))


def read_sentence(line: str, number: int) -> Sentence:
    """Separate words from brackets; a stack is enough, because mentions nest and never cross."""
    words: list[str] = []
    unclosed: list[tuple[int, int]] = []  # (chain, start), innermost last
    mentions: list[Mention] = []
    for token in line.split():
        if token == "]":
            mentions.append(close_mention(unclosed, len(words), number))
        elif token.startswith("["):
            unclosed.append((chain_number(token, number), len(words)))
        else:
            words.append(token)
    if unclosed:
        raise AnnotationError(number, f"a mention of chain {unclosed[-1][0]} is never closed")
    return Sentence(tuple(words), ordered(mentions, number))


def chain_number(token: str, number: int) -> int:
    """The chain that `[3` opens; anything else that begins with a bracket is a slip of the pen."""
    match = OPENING.fullmatch(token)
    if match is None:
        raise AnnotationError(number, f"unknown bracket {token!r}: a mention opens as '[3', then a space")
    return int(match[1])


def close_mention(unclosed: list[tuple[int, int]], word_count: int, number: int) -> Mention:
    """Close the innermost open mention at the last word read."""
    if not unclosed:
        raise AnnotationError(number, "unknown bracket ']': no mention is open here")
    chain, start = unclosed.pop()
    if start == word_count:
        raise AnnotationError(number, f"an empty mention of chain {chain}")
    return Mention(start, word_count - 1, chain)


def ordered(mentions: list[Mention], number: int) -> tuple[Mention, ...]:
    """Sort outer before inner; one span in two chains would claim that two entities are one."""
    if len({(mention.start, mention.end) for mention in mentions}) < len(mentions):
        raise AnnotationError(number, "the same words are marked as a mention twice")
    return tuple(sorted(mentions, key=lambda mention: (mention.start, -mention.end)))


def starts_a_sentence(words: tuple[str, ...], index: int) -> bool:
    """Capitals prove nothing at the start of the line, of a quotation, or of a turn (`Ana : Have`)."""
    opens_quote = index > 0 and words[index - 1] == '"' and words[:index].count('"') % 2 == 1
    return index == 0 or words[index - 1] == ":" or opens_quote


def names_in(document: Document) -> frozenset[str]:
    """Forms that some sentence of the document capitalizes without being obliged to."""
    return frozenset(
        word
        for sentence in document.sentences
        for index, word in enumerate(sentence.words)
        if word[0].isupper() and word.lower() not in PERSONAL and not starts_a_sentence(sentence.words, index)
    )


def tag(words: tuple[str, ...], index: int, names: frozenset[str]) -> str:
    """Tag what the three types of mention need (pronoun, proper name), `-` elsewhere: a
    sentence-initial name cannot be told from a common noun without a tag."""
    word, following = words[index].lower(), words[index + 1 :][:1]
    if word == "her":
        owns = bool(following) and following[0].isalpha() and following[0] not in AFTER_OBJECT_HER
        return "PRP$" if owns else "PRP"
    if word in PERSONAL:
        return "PRP"
    if word in POSSESSIVE:
        return "PRP$"
    return "NNP" if words[index] in names else "-"


def bracket_parts(sentence: Sentence, index: int) -> Iterator[tuple[str, int, str]]:
    """The (opening, chain, closing) marks of one word, ordered so that they nest: mentions that open
    here, outermost first; those of this word alone; those that close, innermost first.

    As mentions never cross, no word closes one longer mention and opens another.
    """
    for mention in sentence.mentions:
        if mention.start == index:
            yield "(", mention.chain, ")" if mention.end == index else ""
    for mention in reversed(sentence.mentions):
        if mention.start < index == mention.end:
            yield "", mention.chain, ")"


def conll_lines(document: Document) -> Iterator[str]:
    """One document in CoNLL-2012: twelve columns, of which number, word, tag and chains are known."""
    names = names_in(document)
    yield f"#begin document ({document.name}); part 000"
    for sentence in document.sentences:
        for index, word in enumerate(sentence.words):
            chains = "|".join(f"{left}{chain}{right}" for left, chain, right in bracket_parts(sentence, index))
            known = (document.name, "0", str(index), word, tag(sentence.words, index, names))
            yield "\t".join((*known, "-", "-", "-", "-", "-", "*", chains or "-"))
        yield ""
    yield "#end document"


def corefud_lines(document: Document, first_entity: int) -> Iterator[str]:
    """One document in CorefUD. Entities are numbered from `first_entity` in order of appearance, since
    readers of the format take equal ids in two documents of a file for one entity."""
    names, numbers = names_in(document), entity_numbers(document, first_entity)
    yield f"# newdoc id = {document.name}"
    yield "# global.Entity = eid"
    for count, sentence in enumerate(document.sentences, start=1):
        yield f"# sent_id = {document.name}-{count}"
        yield f"# text = {' '.join(sentence.words)}"
        for index, word in enumerate(sentence.words):
            parts = bracket_parts(sentence, index)
            entity = "".join(f"{left}e{numbers[chain]}{right}" for left, chain, right in parts)
            xpos = tag(sentence.words, index, names).replace("-", "_")
            known = (str(index + 1), word, "_", UNIVERSAL.get(xpos, "_"), xpos)
            yield "\t".join((*known, "_", "_", "_", "_", f"Entity={entity}" if entity else "_"))
        yield ""


def entity_numbers(document: Document, first_entity: int) -> dict[int, int]:
    """A number of the whole file for each chain of the document."""
    chains = (mention.chain for sentence in document.sentences for mention in sentence.mentions)
    return {chain: first_entity + offset for offset, chain in enumerate(dict.fromkeys(chains))}


def all_corefud_lines(documents: Iterable[Document]) -> Iterator[str]:
    """All documents in CorefUD, with entity ids that differ from document to document."""
    first_entity = 1
    for document in documents:
        yield from corefud_lines(document, first_entity)
        first_entity += len(entity_numbers(document, first_entity))


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write with `\\n` on every system, so that a rebuild changes no byte and no digest."""
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def build(source: Path = SOURCE) -> str:
    """Write both forms beside `source` and return a one-line summary."""
    documents = read_documents(source.read_text(encoding="utf-8"))
    write_lines(source.with_suffix(".conll"), (line for each in documents for line in conll_lines(each)))
    write_lines(source.with_suffix(".conllu"), all_corefud_lines(documents))
    sentences = [sentence for document in documents for sentence in document.sentences]
    mentions = sum(len(sentence.mentions) for sentence in sentences)
    return f"{len(documents)} documents, {len(sentences)} sentences, {mentions} mentions"


if __name__ == "__main__":
    print(build())
