"""What heads and baselines guess, and the groups that items are counted in (docs/methods.md, section 7)."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from bertviz_core.corpora.coreference.mentions import PRONOUNS, TYPES, Features, Item, mention_type
from bertviz_core.errors import SettingsError
from bertviz_core.inputs.annotated_words import Window
from bertviz_core.inputs.encoding import Membership, membership, word_of
from bertviz_core.inputs.tensors import Tensor

DIRECTIONS = ("mention->antecedent", "antecedent->mention")  # the first is the paper's measure
CANDIDATES = ("mentions", "words")

# The axis of groups: 3 types x 2 folds, the bins of distance, the genders. An item is in one group of each kind; in one
# of the genders only if it is a pronoun with that gender.
FOLDS = 2  # by parity of the document's number
BINS = (5, 10, 20, 40, 80)  # last distance, in words, of each bin but the last
BIN_NAMES = ("1-5", "6-10", "11-20", "21-40", "41-80", "81+")
GENDERS = ("masculine", "feminine", "neuter")
DISTANCE = len(TYPES) * FOLDS  # the first bin
GENDER = DISTANCE + len(BIN_NAMES)
GROUPS = GENDER + len(GENDERS)
TYPE_ROWS = ("all", *TYPES)
BREAKDOWNS = {"distance": BIN_NAMES, "gender": GENDERS}

EXACT = CHANCE, RANDOM = "chance (1 / candidates)", "random candidate"  # means, without an interval
BASELINES = ("nearest", "head match", "head match, else nearest", "rule-based")
SIMPLE = (RANDOM, "nearest", "head match")  # a head that finds antecedents is above each of them
COMPARED = (RANDOM, "nearest", "head match", "rule-based")  # drawn beside a head; the table has the others too
# Mentions other than pronouns: nouns and titles with a gender, and plurals without a plural ending.
MASCULINE_NOUNS = (
    "man men boy boys father son brother uncle husband nephew grandfather king prince duke lord sir mr mr. mister "
    "gentleman gentlemen fellow lad waiter actor widower count baron monk priest"
)
FEMININE_NOUNS = (
    "woman women girl girls mother daughter sister aunt wife niece grandmother queen princess duchess lady ladies "
    "madam mrs mrs. ms ms. miss waitress actress widow countess baroness nun"
)
GENDERED = dict.fromkeys(MASCULINE_NOUNS.split(), "masculine") | dict.fromkeys(FEMININE_NOUNS.split(), "feminine")
PLURAL_NOUNS = frozenset(("men", "women", "children", "people", "police", "feet", "teeth", "mice", "geese"))
SINGULAR_ENDINGS = ("ss", "us", "is", "'s")


def index_of(candidates: str) -> int:
    """Where a name stands in CANDIDATES; raises SettingsError for another."""
    if candidates not in CANDIDATES:
        raise SettingsError(f"Unknown candidates {candidates!r}.", hint=f"Choose {' or '.join(CANDIDATES)}.")
    return CANDIDATES.index(candidates)


def groups_of(window: Window) -> np.ndarray:
    document = window.document
    fold = document.number % FOLDS
    members = np.zeros((len(window.items), GROUPS), dtype=bool)
    for row, item in zip(members, window.items, strict=True):
        head = window.heads[item.mention]
        kind = mention_type(document, head)
        distance = min(abs(head - window.heads[mention]) for mention in item.antecedents)
        row[kind * FOLDS + fold] = True
        row[DISTANCE + bisect_left(BINS, distance)] = True
        pronoun = PRONOUNS.get(document.words[head].lower())
        if TYPES[kind] == "pronoun" and pronoun and pronoun.gender:
            row[GENDER + GENDERS.index(pronoun.gender)] = True
    return members


def earlier_antecedents(window: Window) -> Window:
    """The window as a causal model reads it: with the candidates whose head word comes before the item's."""
    items = []
    for item in window.items:
        head = window.heads[item.mention]
        candidates = tuple(each for each in item.candidates if window.heads[each] < head)
        antecedents = tuple(each for each in item.antecedents if window.heads[each] < head)
        if antecedents:
            items.append(Item(item.mention, candidates, antecedents))
    return replace(window, items=tuple(items))


@dataclass(frozen=True)
class BatchItems:
    """The items of a batch's windows, in order, padded to the largest number in a window."""

    membership: Membership
    mention: np.ndarray  # (batch, item, word) the preceding mention that a word heads, an antecedent first; else -1
    head: Tensor  # (batch, item) head word, in its window
    allowed: Tensor  # (batch, 1, candidates, item, word) bool, the words that may be guessed
    right: Tensor  # (batch, item, word) bool, heads of antecedents
    groups: Tensor  # (batch, item, group) 0/1
    group_members: np.ndarray  # the same, on the CPU
    chance: np.ndarray  # (2, candidates, group) sums over the items: 1 / candidates, and antecedents / candidates

    @classmethod
    def of(cls, windows: Sequence[Window], device: str, first_piece: bool, causal: bool) -> "BatchItems":
        """The items of one batch's windows; in a causal model other words are those before a mention."""
        import torch

        sizes = [window.span[1] - window.span[0] for window in windows]
        shape = (len(windows), max(len(window.items) for window in windows))
        head = np.zeros(shape, dtype=np.int64)
        mention = np.full((*shape, max(sizes)), -1, dtype=np.int32)
        others = np.zeros(mention.shape, bool)
        right = np.zeros(mention.shape, bool)
        groups = np.zeros((*shape, GROUPS), dtype=np.float32)
        for row, (window, size) in enumerate(zip(windows, sizes, strict=True)):
            groups[row, : len(window.items)] = groups_of(window)
            heads = np.array(window.heads) - window.span[0]
            for column, item in enumerate(window.items):
                own = heads[item.mention]
                head[row, column] = own
                others[row, column, : own if causal else size] = True
                others[row, column, own] = False
                for mentions in (item.candidates, item.antecedents):
                    mention[row, column, heads[list(mentions)]] = mentions
                right[row, column, heads[list(item.antecedents)]] = True
        allowed = np.stack([mention >= 0, others], 1)[:, None]
        return cls(
            membership=membership(list(map(word_of, windows)), device, first_piece=first_piece),
            mention=mention,
            head=torch.from_numpy(head).to(device),
            allowed=torch.from_numpy(allowed).to(device),
            right=torch.from_numpy(right).to(device),
            groups=torch.from_numpy(groups).to(device),
            group_members=groups,
            chance=chance(allowed, right, groups),
        )

    def scores(self, weights: Tensor) -> Tensor:
        """(batch, direction, head, item, word) attention from an item's head word to every word, and to it."""
        import torch

        from_word = self.membership.from_word
        to_word = self.membership.to_word
        rows = torch.take_along_dim(from_word, self.head[:, :, None], 1)  # (batch, item, token)
        columns = torch.take_along_dim(to_word, self.head[:, None], 2)  # (batch, token, item)
        ahead = (rows[:, None] @ weights) @ to_word[:, None]
        back = from_word[:, None] @ (weights @ columns[:, None])
        return torch.stack([ahead, back.mT], 1)


def chance(allowed: np.ndarray, right: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """(2, candidates, group) sums over the items of BatchItems: 1 / candidates, and antecedents / candidates."""
    candidates = allowed[:, 0].sum(-1).astype(float)  # (batch, candidates, item)
    antecedents = right.sum(-1)[:, None].astype(float)
    counts = [np.ones_like(candidates), np.broadcast_to(antecedents, candidates.shape)]
    shares = np.stack(counts) / np.maximum(candidates, 1)
    return np.einsum("sbci,big->scg", shares, groups.astype(float))


def answers(items: BatchItems, weights: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(batch, direction, candidates, head, item): the guess (the allowed word with the largest weight, the first
    of equals), its weight, and whether it heads an antecedent."""
    scores = items.scores(weights)[:, :, None]  # (batch, direction, 1, head, item, word)
    allowed = items.allowed[:, :, :, None]  # (batch, 1, candidates, 1, item, word)
    best, guess = scores.masked_fill(~allowed, -1.0).max(-1)
    right = items.right[:, None, None, None].expand(*guess.shape, -1)
    return guess, best, right.gather(-1, guess[..., None])[..., 0]


def baselines_right(window: Window) -> np.ndarray:
    """(system, item) bool: whether each of BASELINES guesses an antecedent."""
    document = window.document
    heads = window.heads

    @cache
    def described(mention: int) -> tuple[list[str], str, Features]:
        span = document.mentions[mention]
        words = [word.lower() for word in document.words[span.start : span.end]]
        at = heads[mention]
        head = document.words[at].lower()
        tag = document.tags[at] if document.tags else ""
        return words, head, features(words, head, tag)

    rows = []
    for item in window.items:
        words, head, known = described(item.mention)
        backwards = item.candidates[::-1]
        same_words = next((each for each in backwards if described(each)[0] == words), None)
        same_head = next((each for each in backwards if described(each)[1] == head), None)
        agreeing = next((each for each in backwards if described(each)[2].agrees(known)), None)
        sieves = (same_words, same_head, agreeing, backwards[0])
        either = backwards[0] if same_head is None else same_head
        rule_based = next(guess for guess in sieves if guess is not None)
        guesses = (backwards[0], same_head, either, rule_based)
        antecedents = {heads[mention] for mention in item.antecedents}
        rows.append([guess is not None and heads[guess] in antecedents for guess in guesses])
    return np.array(rows, dtype=bool).T


def features(words: Sequence[str], head: str, tag: str = "") -> Features:
    """Features of a mention, from its words and its head word in lower case. All but pronouns are third person, and
    plural by their tag, their ending or an "and"."""
    if head in PRONOUNS:
        return PRONOUNS[head]
    ending = head.endswith("s") and not head.endswith(SINGULAR_ENDINGS) and len(head) > 3
    is_plural = tag in {"NNS", "NNPS"} or "and" in words or head in PLURAL_NOUNS
    is_plural = is_plural or (ending and tag not in {"NN", "NNP"})
    # The head word decides the gender where it can, else a title or noun anywhere in the mention.
    genders = {GENDERED[word] for word in words if word in GENDERED}
    gender = GENDERED.get(head) or (genders.pop() if len(genders) == 1 else "")
    return Features("plural" if is_plural else "singular", gender, 3)
