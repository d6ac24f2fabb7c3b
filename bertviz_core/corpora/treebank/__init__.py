"""Treebanks: sentences, the check that they are trees, and the meaning of relations and parts of speech."""

import re
from collections.abc import Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

from bertviz_core.errors import shorten

ALL, UAS = TOTALS = ("all", "UAS")  # rows beside those of relations: every word; every word but punctuation
# What punctuation is called: in UD and Stanford Dependencies, TIGER, the Universal Treebanks, CoNLL-2009 and Prague's.
PUNCTUATION = ("punct", "PUNCT", "PUNC", "--", "p", "P", "AuxG", "AuxK", "AuxX")
# Names of relations that only one set of guidelines has
SCHEMES = {
    "Universal Dependencies v2": {"obj", "obl"},
    "Universal Dependencies v1": {"dobj", "nmod", "case"},
    "Stanford Dependencies": {"prep", "pobj"},
}
POSSESSIVES = ("'s", "s'", "'", "’s", "s’", "’")
RENAMED = {"obj": "dobj", "compound": "nn", "nmod:poss": "poss"}
RENAMED |= {"aux:pass": "auxpass", "nsubj:pass": "nsubjpass", "compound:prt": "prt"}


@dataclass(frozen=True)
class Sentence:
    """One sentence of a treebank.

    Attributes:
        number: Its index in the file, broken sentences counted.
        line: The line of its first word, from 1.
        governors: The word that governs each word, from 1; 0 is the root.
        relations: The relation of each word to its governor, see `relation_name`.
        tags: Part of speech of each word, as the file has it; empty where it has none for some word.
        document: How many documents (`# newdoc`) of the file end before it.
    """

    number: int
    line: int
    words: tuple[str, ...]
    governors: tuple[int, ...]
    relations: tuple[str, ...]
    tags: tuple[str, ...] = ()
    document: int = 0

    @property
    def where(self) -> str:
        """Its location for people."""
        return f"line {self.line}"

    def __len__(self) -> int:
        return len(self.words)

    def to_json(self) -> dict[str, list[Any]]:
        """What the release's preprocessing writes for a sentence; of `heads`, 0 is the root."""
        return {"words": list(self.words), "relns": list(self.relations), "heads": list(self.governors)}


class SentenceRecord(TypedDict):
    """A sentence of a treebank as results store it, see `Sentence`.

    Attributes:
        number: Its index in the file, broken sentences counted.
        line: The line of its first word, from 1.
        governors: The word that governs each word, from 1; 0 is the root.
        relations: The relation of each word to its governor.
        tags: Part of speech of each word; empty where the file has none for some word.
        document: How many documents of the file end before it.
    """

    number: int
    line: int
    words: list[str]
    governors: list[int]
    relations: list[str]
    tags: list[str]
    document: int


def sentence_of(record: SentenceRecord) -> Sentence:
    """The sentence of a record."""
    fields: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in record.items()}
    return Sentence(**fields)


class BrokenSentence(Exception):
    """A sentence that is skipped.

    Attributes:
        reason: Why, in plain words, which others may share.
        line: The line of what is wrong.
        detail: What is wrong with this one; empty for nothing more.
    """

    def __init__(self, reason: str, line: int, detail: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.detail = shorten(detail, 80)

    @property
    def where(self) -> str:
        """Its location for people, with the detail."""
        return f"line {self.line}" + (f" ({self.detail})" if self.detail else "")


def relation_name(label: str) -> str:
    """A label of a file as the name of a relation: one that tables would take for a total gets an underscore.

    >>> relation_name("nsubj:pass"), relation_name("UAS"), relation_name("all:x")
    ('nsubj:pass', 'UAS_', 'all_:x')
    """
    base, colon, subtype = label.partition(":")
    return f"{base}_{colon}{subtype}" if base in TOTALS else label


def is_punctuation(relation: str) -> bool:
    """Whether a relation is that of punctuation, which UAS leaves out.

    >>> is_punctuation("punct"), is_punctuation("P"), is_punctuation("prep")
    (True, True, False)
    """
    return relation.partition(":")[0] in PUNCTUATION


def relation_scheme(relations: Set[str]) -> str:
    """The guidelines that relations of these names follow; "" where that is not known.

    >>> relation_scheme({"obj", "obl", "case"}), relation_scheme({"dobj", "prep", "pobj"}), relation_scheme({"dep"})
    ('Universal Dependencies v2', 'Stanford Dependencies', '')
    """
    names = {relation.partition(":")[0] for relation in relations}
    return next((scheme for scheme, typical in SCHEMES.items() if typical <= names), "")


def check_tree(sentence: Sentence, lines: list[int], single_root: bool) -> Sentence:
    """The sentence itself.

    Raises:
        BrokenSentence: The words do not form a tree; the error names a line of the sentence.
    """
    size = len(sentence)
    governors = sentence.governors
    for line, governor in zip(lines, governors, strict=True):
        if not 0 <= governor <= size:
            detail = f"head {governor}, but the sentence has {size} words"
            raise BrokenSentence("a governor beyond the sentence", line, detail)
    rooted = {0}
    for start in range(1, size + 1):
        path: set[int] = set()
        word = start
        while word not in rooted:
            if word in path:
                raise BrokenSentence("words that govern each other in a cycle", lines[word - 1], f"at word {word}")
            path.add(word)
            word = governors[word - 1]
        rooted |= path
    roots = [word for word, governor in enumerate(governors) if governor == 0]
    if single_root and len(roots) > 1:
        raise BrokenSentence("more than one root", lines[roots[1]], f"{len(roots)} roots")
    return sentence


def function_heads(sentence: Sentence) -> Sentence:
    """Universal Dependencies read with function words as governors, as in the paper's Stanford labels (docs/methods.md,
    section 6): case(mat, on), obl(sat, mat) become prep(sat, on), pobj(on, mat)."""
    governors = list(sentence.governors)
    relations = [RENAMED.get(relation, relation) for relation in sentence.relations]
    attached: set[int] = set()  # nominals that an adposition governs
    words = zip(sentence.words, sentence.governors, sentence.relations, strict=True)
    for index, (word, nominal, relation) in enumerate(words, start=1):
        is_adposition = relation.split(":")[0] == "case" and word.lower() not in POSSESSIVES
        upper = sentence.governors[nominal - 1]
        if not is_adposition or index >= nominal or nominal in attached or not upper:
            continue
        attached.add(nominal)
        governors[index - 1] = upper
        relations[index - 1] = "prep"
        governors[nominal - 1] = index
        relations[nominal - 1] = "pobj"
    return replace(sentence, governors=tuple(governors), relations=tuple(relations))


class Label(NamedTuple):
    """The meaning of a label, and a relation's example with the dependent in <> and its governor in [].

    Attributes:
        meaning: What it means, in plain words.
        example: A phrase with the dependent in <> and its governor in []; empty without.
    """

    meaning: str
    example: str = ""

    def marked(self, dependent: str, governor: str) -> str:
        """The example with both words marked by templates, such as "**{}**"."""
        text = re.sub(r"<([^>]*)>", dependent.format(r"\1"), self.example)
        return re.sub(r"\[([^]]*)\]", governor.format(r"\1"), text)


LABELS = {"all": Label("all words"), "UAS": Label("without punctuation")}
for _line in (Path(__file__).parents[2] / "assets" / "labels.txt").read_text("utf-8").splitlines():
    if not _line.startswith("#"):
        _names, _text = _line.split(": ", 1)
        LABELS |= dict.fromkeys(_names.split(", "), Label(*_text.split(" | ")))
RELATIONS = {name: label for name, label in LABELS.items() if label.example}
TAGS = frozenset(name for name in LABELS if name.isupper() and name not in TOTALS)  # universal parts of speech


def _label(name: str) -> Label:
    """A subtype without an entry (`obl:lmod`) means what its relation does."""
    return LABELS.get(name) or LABELS.get(name.partition(":")[0]) or Label("")


def meaning(name: str) -> str:
    """The meaning of a relation or a universal part of speech; empty where it is unknown."""
    return _label(name).meaning


def explain(name: str, dependent: str = "{}", governor: str = "{}") -> str:
    """A relation's meaning with its example, in which templates such as "**{}**" mark both words."""
    label = _label(name)
    return label.meaning + (f", as in: {label.marked(dependent, governor)}" if label.example else "")
