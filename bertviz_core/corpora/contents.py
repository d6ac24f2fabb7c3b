"""What a corpus contains, in words: said to whoever gives one, when it has been read to its end."""

from collections.abc import Iterator
from operator import itemgetter

from bertviz_core.corpora import Skipped, pairs
from bertviz_core.corpora.annotated import CoreferenceCorpus, Treebank
from bertviz_core.corpora.authors_json import ExampleCorpus
from bertviz_core.corpora.readers import read_text, read_vectors
from bertviz_core.corpora.source import Source
from bertviz_core.corpora.treebank import is_punctuation, relation_scheme
from bertviz_core.numbers import plural


def describe(kind: str, source: Source) -> str:
    """Read a source of this kind, or of "vectors", to its end; returns what it contains as sentences, "" for vectors.

    Raises:
        InputError: The source cannot be read.
    """
    if kind == "vectors":
        read_vectors(source, frozenset())
        return ""
    describe_kind = {"treebank": _treebank, "coreference": _coreference, "pairs": pairs.describe}.get(kind, _text)
    skipped = Skipped()
    description = describe_kind(source, skipped)
    description += "".join(map(" {}".format, _left_out(skipped)))
    if left_out := source.left_out():
        description += f" Not read, as others have another ending: {', '.join(left_out[:5])}."
    return description


def _treebank(source: Source, skipped: Skipped) -> str:
    treebank = Treebank(source)
    sentences = words = 0
    has_marks = False
    relations = set[str]()
    for sentence in treebank.sentences(skipped):
        sentences += 1
        words += len(sentence)
        relations.update(sentence.relations)
        has_marks = has_marks or any(not any(map(str.isalnum, word)) for word in sentence.words)
    scheme = relation_scheme(relations)
    form = treebank.form.name + (f", relations of {scheme}" if scheme else "")
    has_other_name = has_marks and not any(map(is_punctuation, relations))
    note = " No relation is known as that of punctuation: UAS counts every word." if has_other_name else ""
    return f"Read as {form}: {plural(sentences, 'sentences')}, {plural(words, 'words')}.{note}"


def _coreference(source: Source, skipped: Skipped) -> str:
    corpus = CoreferenceCorpus(source)
    corpus.check_ends()
    counts = dict.fromkeys(("documents", "sentences", "words", "mentions"), 0)
    chains = 0
    for document in corpus.documents(skipped):
        parts = ([document], document.sentences, document.words, document.mentions)
        for unit, part in zip(counts, parts, strict=True):
            counts[unit] += len(part)
        chains += len({mention.cluster for mention in document.mentions})
    corpus.check_chains(counts["mentions"] - chains)
    listed = ", ".join(plural(count, unit) for unit, count in counts.items())
    return f"Read as {corpus.form.name}: {listed} in {plural(chains, 'chains')}."


def _text(source: Source, skipped: Skipped) -> str:
    corpus = read_text(source)
    words = 0
    if isinstance(corpus, ExampleCorpus):
        examples = 0
        for record in corpus.records(skipped):
            examples += 1
            words += len(record.value.split() if record.form == "text" else record.value)
        return f"Read as JSON: {plural(examples, 'examples')}, {plural(words, 'words')}."
    paragraphs = documents = 0
    for paragraph in corpus.paragraphs(skipped):
        paragraphs += 1
        documents = paragraph.document + 1
        words += len(paragraph.text.split())
    listed = f"{plural(documents, 'documents')}, {plural(paragraphs, 'paragraphs')}, {plural(words, 'words')}"
    return f"Read as text: {listed}."


def _left_out(skipped: Skipped) -> Iterator[str]:
    """A sentence about whole inputs that are skipped, for each kind of them; the most frequent reason first."""
    whole = [(reason, entry) for reason, entry in skipped.reasons.items() if "unit" in entry]
    for unit in dict.fromkeys(entry["unit"] for _, entry in whole):
        entries = [(entry["count"], reason, entry["where"][0]) for reason, entry in whole if entry["unit"] == unit]
        count = sum(each for each, _, _ in entries)
        reasons = [f"{reason}, {where}" for _, reason, where in entries]
        if len(entries) > 1:
            ordered = sorted(entries, key=itemgetter(0), reverse=True)
            reasons = [f"{reason} ({each:,}, as in {where})" for each, reason, where in ordered]
        yield f"{plural(count, unit)} {'is' if count == 1 else 'are'} skipped: {'; '.join(reasons)}."
