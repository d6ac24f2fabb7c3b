"""The formats of treebanks and of coreference corpora: one table for readers, pages, docs/formats.md and tests."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bertviz_core.corpora.coreference import columns, spans
from bertviz_core.corpora.source import Line
from bertviz_core.corpora.treebank import conll

Kind = Literal["treebank", "coreference"]
CONLLU = "CoNLL-U"  # the format of Universal Dependencies


@dataclass(frozen=True)
class Format:
    """One way to write a corpus.

    Attributes:
        kind: What is written.
        name: Name for people and in provenance.
        label: One sentence about it.
        recognize: From the first lines of a file, whether it has this format. The first format that says so counts.
        read: A treebank's: from the number of a sentence and its lines to the Sentence. A coreference corpus's: from
            the source and what it skips to the documents.
        example: A whole small file.
    """

    kind: Kind
    name: str
    label: str
    recognize: Callable[[Sequence[Line]], bool]
    read: Callable[..., Any]
    example: str


FORMATS = (
    Format(
        "treebank",
        CONLLU,
        "Ten columns; multi-word lines and empty nodes are skipped.",
        conll.is_universal,
        conll.read_universal,
        "# text = He sat .\n"
        "1\tHe\the\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n"
        "2\tsat\tsit\tVERB\tVBD\t_\t0\troot\t_\t_\n"
        "3\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_\n",
    ),
    Format(
        "treebank",
        "CoNLL-X",
        "The same columns, as parsers of Stanford dependencies write them.",
        conll.has_rows,
        conll.read_x,
        "1\tHe\t_\tPRP\tPRP\t_\t2\tnsubj\t_\t_\n"
        "2\tsat\t_\tVBD\tVBD\t_\t0\troot\t_\t_\n"
        "3\t.\t_\t.\t.\t_\t2\tpunct\t_\t_\n",
    ),
    Format(
        "treebank",
        "word head-label",
        "The authors' lines: the word, the number of its governor, a hyphen, the relation; a blank line between "
        "sentences.",
        conll.is_plain,
        conll.read_plain,
        "He 2-nsubj\nsat 0-root\n. 2-punct\n",
    ),
    Format(
        "coreference",
        "CorefUD",
        "CoNLL-U with `Entity=` in the last column.",
        columns.is_corefud,
        columns.corefud_documents,
        "# newdoc id = a\n"
        "# global.Entity = eid-etype-head-other\n"
        "1\tShe\tshe\tPRON\t_\t_\t2\tnsubj\t_\tEntity=(e1-person-1-)\n"
        "2\tslept\tsleep\tVERB\t_\t_\t0\troot\t_\t_\n"
        "3\tbecause\tbecause\tSCONJ\t_\t_\t5\tmark\t_\t_\n"
        "4\tshe\tshe\tPRON\t_\t_\t5\tnsubj\t_\tEntity=(e1-person-1-)\n"
        "5\tcould\tcan\tAUX\t_\t_\t2\tadvcl\t_\t_\n",
    ),
    Format(
        "coreference",
        "jsonlines",
        "A document per line, clusters as inclusive spans of words.",
        lambda lines: any(text.startswith("{") for _, text in lines),
        spans.jsonlines_documents,
        '{"doc_key": "a", "sentences": [["She", "slept", "because", "she", "could"]], '
        '"clusters": [[[0, 0], [3, 3]]]}\n',
    ),
    Format(
        "coreference",
        "GAP",
        "A row has a text, a pronoun in it, and two names, of which one or neither is meant.",
        lambda lines: any(text.startswith(spans.GAP_HEADER) for _, text in lines),
        spans.gap_documents,
        "ID\tText\tPronoun\tPronoun-offset\tA\tA-offset\tA-coref\tB\tB-offset\tB-coref\tURL\n"
        "dev-1\tAnn met Eve because she was ill.\tshe\t20\tAnn\t0\tTRUE\tEve\t8\tFALSE\t-\n",
    ),
    Format(
        "coreference",
        "LitBank",
        "Thirteen columns.",
        columns.recognizer(13, 13, blank=True),
        columns.documents,
        "#begin document (a); part 0\n"
        "a\t0\t0\tShe\t_\t_\t_\t_\t_\t_\t_\t_\t(1)\n"
        "a\t0\t1\tslept\t_\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "a\t0\t2\tbecause\t_\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "a\t0\t3\tshe\t_\t_\t_\t_\t_\t_\t_\t_\t(1)\n"
        "a\t0\t4\tcould\t_\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "#end document\n",
    ),
    Format(
        "coreference",
        "CoNLL-2012",
        "Eleven columns or more, chains in the last one.",
        columns.recognizer(11),
        columns.documents,
        "#begin document (a); part 000\n"
        "a 0 0 She PRP - - - - - * (1)\n"
        "a 0 1 slept VBD - - - - - * -\n"
        "a 0 2 because IN - - - - - * -\n"
        "a 0 3 she PRP - - - - - * (1)\n"
        "#end document\n",
    ),
    Format(
        "coreference",
        "3 columns (index, token, chains)",
        "The format in which OntoGUM is published.",
        columns.recognizer(3, 3),
        columns.documents,
        "0\tShe\t(1)\n1\tslept\t-\n2\tbecause\t-\n3\tshe\t(1)\n4\tcould\t-\n",
    ),
    Format(
        "coreference",
        "5 columns",
        "The reference scorer's test cases: document, part, index, word, chains.",
        columns.recognizer(5, 5),
        columns.documents,
        "a 0 0 She (1)\na 0 1 slept -\na 0 2 because -\na 0 3 she (1)\na 0 4 could -\n",
    ),
)


def recognize(kind: Kind, lines: Sequence[Line]) -> Format | None:
    """The format of a file that begins with these lines."""
    return next((form for form in FORMATS if form.kind == kind and form.recognize(lines)), None)


def names(kind: Kind) -> str:
    """The formats of one kind, for people."""
    *first, last = (form.name for form in FORMATS if form.kind == kind)
    return f"{', '.join(first)} or {last}"
