"""Which chain a bracket names: by the header of CorefUD's `Entity=`, and in files without one by what stands there."""

import re
from dataclasses import dataclass

from bertviz_core.corpora.source import Source
from bertviz_core.errors import shorten

CHAIN_NAMES = ("eid", "GRP")  # the attribute with the chain's name, in GUM's files GRP
WORD_NUMBER = "head"  # the attribute with the number of the mention's head word
TYPE_AND_NUMBER = re.compile(r"[^\W\d]+-(\d+)(?:-.*)?")  # GUM's "person-12-Mary": the number is the chain
NUMBERED = re.compile(r"[^-]*\d[^-]*")
NUMBERS = re.compile(r"[\d,]*")
WRITE_NUMBERS = "Number the chains, as (1) or (person-1), or name the attributes: # global.Entity = eid-etype."


def unnamed_chain(label: str, source: Source, line: int) -> str:
    """The chain of a bracket in a file whose header names no attributes.

    >>> unnamed_chain("person-12-Mary", Source("", "", 0), 1), unnamed_chain("e7", Source("", "", 0), 1)
    ('12', 'e7')

    Args:
        label: What the bracket holds.
        line: The line of the bracket.

    Raises:
        InputError: It names a type of entities and no chain, or has attributes of which one cannot know the chain.
    """
    if typed := TYPE_AND_NUMBER.fullmatch(label):
        return typed[1]
    if NUMBERED.fullmatch(label):
        return label
    what = f"{shorten(label, 80)!r} has no number of a chain: the file holds entities, not chains."
    if any(map(str.isdigit, label)):
        what = f"Nothing says which attribute of {shorten(label, 80)!r} is the chain."
    raise source.error(what, WRITE_NUMBERS, line)


@dataclass(frozen=True)
class EntityAttributes:
    """The attributes of a bracket of `Entity=`, as `# global.Entity` names them.

    Attributes:
        names: Their names in order; empty without the header.
    """

    names: tuple[str, ...] = ()

    def chain(self, label: str, source: Source, line: int, *, opens: bool) -> str:
        """The chain of a bracket; one that only closes has the chain alone, or attributes up to it.

        Args:
            label: What the bracket holds.
            line: The line of the bracket.
            opens: Whether the bracket opens a mention.

        Raises:
            InputError: The header names no chain, or the attributes are not those that it names.
        """
        if not self.names:
            return unnamed_chain(label, source, line)
        at = next((self.names.index(name) for name in CHAIN_NAMES if name in self.names), None)
        header = "-".join(self.names)
        if at is None:
            what = f"`# global.Entity = {header}` names neither eid nor GRP: the file holds entities, not chains."
            raise source.error(what, "Choose a corpus with coreference, or read the file as a treebank.", line)
        if len(self.names) == 1:
            return label
        values = label.split("-")
        if not opens and len(values) == 1:
            return label
        if problem := self._problem(values, at, opens):
            what = f"By `# global.Entity = {header}`, {shorten(label, 80)!r} {problem}."
            raise source.error(what, "A hyphen separates attributes: write one within an attribute as %2D.", line)
        return values[at]

    def _problem(self, values: list[str], at: int, opens: bool) -> str:
        """What is wrong with the attributes of a bracket whose chain is the attribute `at`; empty for nothing."""
        if len(values) <= at or not values[at]:
            return f"has no {self.names[at]}"
        if len(values) > (len(self.names) if opens else at + 1):
            return "has too many attributes"
        number = dict(zip(self.names, values, strict=False)).get(WORD_NUMBER, "")
        return "" if NUMBERS.fullmatch(number) else f"has no number as its {WORD_NUMBER}"
