"""Items: the mentions that have an antecedent, and what each may choose from in its window.

Definitions: docs/methods.md, section 7.
"""

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass

from bertviz_core.corpora.coreference.documents import CoreferenceDocument
from bertviz_core.corpora.skipped import Skipped

Span = tuple[int, int]  # first word, one past the last
OUT_OF_REACH = "a mention with no antecedent in its window (out of reach)"
SAME_HEAD = "a mention whose only antecedents share its head word"


@dataclass(frozen=True)
class Item:
    """A mention with an antecedent. All numbers are places in the document's list of mentions, in its order.

    Attributes:
        candidates: The preceding mentions whose head word the window shows, but for those with the item's own head.
        antecedents: The candidates of the item's chain; never empty.
    """

    mention: int
    candidates: tuple[int, ...]
    antecedents: tuple[int, ...]


def items_of(
    document: CoreferenceDocument, heads: Sequence[int], windows: Sequence[Span], skipped: Skipped
) -> list[list[Item]]:
    """The items that are scored in each window: an item is scored in the first that shows its head word.

    Args:
        heads: The head word of every mention.
        windows: In order, neither start nor end going back; mentions that reach past the last of them are cut off.
    """
    items: list[list[Item]] = [[] for _ in windows]
    ends = [end for _, end in windows]
    before: list[tuple[int, int]] = []  # (head word, mention) of all that precede, sorted
    chains: dict[int, set[int]] = {}  # the head words of each chain so far
    for index, (mention, head) in enumerate(zip(document.mentions, heads, strict=True)):
        if mention.end > ends[-1]:
            continue
        earlier = chains.setdefault(mention.cluster, set())
        if earlier - {head}:
            position = bisect_left(ends, head + 1)
            candidates = _candidates(before, head, windows[position])
            antecedents = tuple(c for c in candidates if document.mentions[c].cluster == mention.cluster)
            if antecedents:
                items[position].append(Item(index, candidates, antecedents))
            else:
                skipped.add(OUT_OF_REACH, f"{document.name}, word {mention.start + 1}")
        elif earlier:
            skipped.add(SAME_HEAD, f"{document.name}, word {mention.start + 1}")
        insort(before, (head, index))
        earlier.add(head)
    return items


def _candidates(before: list[tuple[int, int]], head: int, window: Span) -> tuple[int, ...]:
    first, end = (bisect_left(before, (edge, -1)) for edge in window)
    return tuple(sorted(mention for word, mention in before[first:end] if word != head))
