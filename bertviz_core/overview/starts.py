"""Where a newcomer can start: heads that are named for something, each with a stored sentence on which they do it."""

from operator import itemgetter
from typing import NamedTuple

from bertviz_core.analyses.base.found_heads import HeadRole
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Results
from bertviz_core.analyses.behaviors import found_by_heads, linguistic
from bertviz_core.heads import Head
from bertviz_core.overview.head_columns import in_order
from bertviz_core.text_display import join_words

COUNT = 3
LENGTHS = (42, 90)  # characters of a sentence that fits a button, and of a passage that the map has room for


class Start(NamedTuple):
    """A head, and a sentence that switches it on.

    Attributes:
        name: What it finds, as the map's legend says, of a head that is offered again as a relation.
        summary: What it does, after its name.
        sentence: A stored input on which it finds all of that.
    """

    head: Head
    name: str
    summary: str
    sentence: str


def starts(results: Results) -> list[Start]:
    """The first heads that are named for something, in the order of maps, each with its clearest short input; where
    these are few, also what else they are named for."""
    roles = [
        (place, Head.parse(label), role)
        for label in linguistic(results)
        for place, role in enumerate(_roles(results, Head.parse(label)))
    ]
    names = found_by_heads(results)
    found = list[Start]()
    for _, head, role in sorted(roles, key=itemgetter(0)):
        if len(found) < COUNT and (sentence := _sentence(role)):
            is_again = any(head == each.head for each in found)
            found.append(Start(head, role.name if is_again else names[head.key()], role.summary, sentence))
    return found


def _roles(results: Results, head: Head) -> list[HeadRole]:
    return [role for name, result in in_order(results) for role in ANALYSES[name].head_roles(result, head)]


def _sentence(role: HeadRole) -> str:
    """A short input as it is written; empty where none is stored."""
    for longest in LENGTHS:
        for example in role.examples(longest)[:1]:
            if len(example.text) <= longest:
                return join_words(example.text.split())
    return ""
