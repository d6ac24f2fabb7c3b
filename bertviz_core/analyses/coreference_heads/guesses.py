"""The items of a batch of windows, what heads and baselines guess for them (docs/methods.md, section 7), and the groups
that items are counted in.

Pronouns say number, gender and person; for other mentions (third person) a plural tag (NNS, NNPS), a plural ending or
an "and" says plural, and the nouns and titles listed here say a gender. What nothing says is unknown.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bertviz_core.corpora.coreference.mentions import PRONOUNS, TYPES, Features, Item, mention_type
from bertviz_core.errors import SettingsError
from bertviz_core.models.encoding import Membership, membership, word_of
from bertviz_core.models.reading import Window
from bertviz_core.models.tensors import Tensor

DIRECTIONS = ("mention->antecedent", "antecedent->mention")  # the first is the paper's measure
CANDIDATES = ("mentions", "words")

# An item is in one of 3 types x 2 folds (the parity of its document's number), in one bin of distance, and, if it is a
# pronoun that tells a gender, in that gender's group, all on one axis (group,).
FOLDS = 2
BINS = (5, 10, 20, 40, 80)  # last distance, in words, of each bin but the last
BIN_NAMES = ("1-5", "6-10", "11-20", "21-40", "41-80", "81+")
GENDERS = ("masculine", "feminine", "neuter")
DISTANCE = len(TYPES) * FOLDS  # of the first bin
GENDER = DISTANCE + len(BIN_NAMES)
GROUPS = GENDER + len(GENDERS)
TYPE_ROWS = ("all", *TYPES)
BREAKDOWNS = {"distance": BIN_NAMES, "gender": GENDERS}

EXACT = CHANCE, RANDOM = "chance (1 / candidates)", "random candidate"  # means, without an interval
BASELINES = ("nearest", "head match", "head match, else nearest", "rule-based")
COMPARED = (RANDOM, "nearest", "head match", "rule-based")  # drawn beside a head; the table has the others too
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
    """(item, group) bool."""
    document = window.document
    heads = window.heads
    members = np.zeros((len(window.items), GROUPS), dtype=bool)
    for row, item in enumerate(window.items):
        kind = mention_type(document, head := heads[item.mention])
        distance = min(abs(head - heads[antecedent]) for antecedent in item.antecedents)
        members[row, kind * FOLDS + document.number % FOLDS] = True
        members[row, DISTANCE + int(np.searchsorted(BINS, distance))] = True
        pronoun = PRONOUNS.get(document.words[head].lower()) if TYPES[kind] == "pronoun" else None
        if pronoun and pronoun.gender:
            members[row, GENDER + GENDERS.index(pronoun.gender)] = True
    return members


def earlier_antecedents(window: Window) -> Window:
    """A window as a causal model reads it: what may be guessed for a mention stands before its head word, and mentions
    that then have no antecedent are no items."""

    def earlier(item: Item) -> Item:
        own = window.heads[item.mention]
        choices = (item.candidates, item.antecedents)
        return Item(item.mention, *(tuple(other for other in each if window.heads[other] < own) for each in choices))

    return replace(window, items=tuple(item for item in map(earlier, window.items) if item.antecedents))


@dataclass(frozen=True)
class Questions:
    """The items of a batch's windows, in order, padded to the most that a window has."""

    membership: Membership
    mention: np.ndarray  # (batch, item, word) the preceding mention that a word heads, an antecedent first; else -1
    head: Tensor  # (batch, item) head word, in its window
    allowed: Tensor  # (batch, 1, candidates, item, word) bool, the words that may be guessed
    right: Tensor  # (batch, item, word) bool, heads of antecedents
    groups: Tensor  # (batch, item, group) 0 or 1

    @classmethod
    def of(cls, windows: Sequence[Window], device: str, first_piece: bool, causal: bool) -> "Questions":
        """The items of one batch's windows; in a causal model other words are those before a mention."""
        import torch

        count = max(len(w.items) for w in windows)
        words = max(w.span[1] - w.span[0] for w in windows)
        shape = (len(windows), count)
        head = np.zeros(shape, dtype=np.int64)
        mention = np.full((*shape, words), -1, dtype=np.int32)
        others, right = np.zeros((2, *shape, words), dtype=bool)
        groups = np.zeros((*shape, GROUPS), dtype=np.float32)
        for row, window in enumerate(windows):
            groups[row, : len(window.items)] = groups_of(window)
            index = np.array(window.heads) - window.span[0]
            for column, item in enumerate(window.items):
                own = head[row, column] = index[item.mention]
                others[row, column, : own if causal else window.span[1] - window.span[0]] = True
                others[row, column, own] = False
                for chosen in (item.candidates, item.antecedents):
                    mention[row, column, index[list(chosen)]] = chosen
                right[row, column, index[list(item.antecedents)]] = True
        allowed = np.stack([mention >= 0, others], 1)[:, None]
        tensors = (torch.from_numpy(array).to(device) for array in (head, allowed, right, groups))
        return cls(membership(list(map(word_of, windows)), device, first_piece=first_piece), mention, *tensors)

    def scores(self, weights: Tensor) -> Tensor:
        """(batch, head, query, key) over tokens to (batch, direction, head, item, word): word-level attention from an
        item's head word to every word, and from every word to it."""
        import torch

        rows = torch.take_along_dim(self.membership.from_word, self.head[:, :, None], 1)  # (batch, item, token)
        columns = torch.take_along_dim(self.membership.to_word, self.head[:, None], 2)  # (batch, token, item)
        ahead = (rows[:, None] @ weights) @ self.membership.to_word[:, None]
        back = self.membership.from_word[:, None] @ (weights @ columns[:, None])
        return torch.stack([ahead, back.transpose(-1, -2)], 1)

    def chance(self) -> np.ndarray:
        """(2, candidates, group), sums over the items: 1 / candidates, and heads of antecedents / candidates, where
        the candidates are the words that may be guessed."""
        candidates = self.allowed[:, 0].sum(-1).cpu().double().numpy()  # (batch, candidates, item)
        right = self.right.sum(-1)[:, None].cpu().double().numpy()
        shares = np.stack([np.ones_like(candidates), right + 0 * candidates]) / np.maximum(candidates, 1)
        return np.einsum("sbci,big->scg", shares, self.groups.cpu().double().numpy())


def answers(questions: Questions, weights: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(batch, direction, candidates, head, item): the guess (the allowed word with the largest weight, the first
    of equals), its weight, and whether it heads an antecedent."""
    scores = questions.scores(weights)[:, :, None]  # (batch, direction, 1, head, item, word)
    allowed = questions.allowed[:, :, :, None]  # (batch, 1, candidates, 1, item, word)
    best, guess = scores.masked_fill(~allowed, -1.0).max(-1)
    right = questions.right[:, None, None, None].expand(*guess.shape, -1)
    return guess, best, right.gather(-1, guess[..., None])[..., 0]


def baselines_right(window: Window) -> np.ndarray:
    """(system, item) bool: whether each of BASELINES guesses an antecedent."""
    document = window.document
    heads = window.heads
    described = {}
    for mention in {mention for item in window.items for mention in (item.mention, *item.candidates)}:
        span = document.mentions[mention]
        head = document.words[heads[mention]]
        words = [word.lower() for word in document.words[span.start : span.end]]
        tag = document.tags[heads[mention]] if document.tags else ""
        described[mention] = words, head.lower(), features(words, head, tag)
    rows = []
    for item in window.items:
        words, head, known = described[item.mention]
        backwards = item.candidates[::-1]
        same_words = next((other for other in backwards if described[other][0] == words), None)
        same_head = next((other for other in backwards if described[other][1] == head), None)
        agreeing = next((other for other in backwards if described[other][2].agrees(known)), None)
        sieves = (same_words, same_head, agreeing, backwards[0])
        either = backwards[0] if same_head is None else same_head
        guesses = backwards[0], same_head, either, next(guess for guess in sieves if guess is not None)
        right = {heads[antecedent] for antecedent in item.antecedents}
        rows.append([guess is not None and heads[guess] in right for guess in guesses])
    return np.array(rows, dtype=bool).T


def features(words: Sequence[str], head: str, tag: str = "") -> Features:
    """Features of a mention with these words and this head word."""
    head = head.lower()
    lowered = {word.lower() for word in words}
    if head in PRONOUNS:
        return PRONOUNS[head]
    ending = head.endswith("s") and not head.endswith(SINGULAR_ENDINGS) and len(head) > 3
    is_plural = tag in {"NNS", "NNPS"} or "and" in lowered or head in PLURAL_NOUNS
    is_plural = is_plural or (ending and tag not in {"NN", "NNP"})
    # The head word decides the gender where it can, else a title or noun anywhere in the mention.
    genders = {GENDERED[word] for word in lowered if word in GENDERED}
    gender = GENDERED.get(head) or (genders.pop() if len(genders) == 1 else "")
    return Features("plural" if is_plural else "singular", gender, 3)
