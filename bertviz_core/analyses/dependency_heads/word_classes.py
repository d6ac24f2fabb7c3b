"""Shares of a head's attention to words by part of speech and by relation (docs/methods.md, section 6)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import pandas as pd

from bertviz_core.analyses.base.open_documents import OpenDocuments
from bertviz_core.analyses.base.result import tidy
from bertviz_core.analyses.base.statistics import error_by_document, share, t_quantile
from bertviz_core.analyses.dependency_heads.guesses import VIEWS
from bertviz_core.analyses.dependency_heads.named_sums import Name, NamedSums
from bertviz_core.corpora.treebank import Sentence
from bertviz_core.heads import Head, all_keys

ClassName = Name  # a scheme is a view of the trees, or PART_OF_SPEECH
PART_OF_SPEECH = "part of speech"
ALL_WORDS: ClassName = ("", "")  # the class that has every word
MIN_WORDS = 20  # classes of fewer words are not named


def classes_of(sentence: Sentence) -> list[list[ClassName]]:
    """The classes of each word of a sentence: its relation in each view, and its part of speech where it has one."""
    schemes = {view: viewed(sentence).relations for view, viewed in VIEWS.items()}
    if sentence.tags:
        schemes[PART_OF_SPEECH] = sentence.tags
    return [list(zip(schemes, labels, strict=True)) for labels in zip(*schemes.values(), strict=True)]


class ClassSums(NamedSums):
    """Sums over the units of a treebank, by class, the first of which is ALL_WORDS.

    With x_s the attention from the words of a sentence s to the words of the class, and m_s that to all words, the
    share of a class is sum x_s / sum m_s (docs/methods.md, section 6, Words attended to). The sums are the fields of
    WordClasses: "class_counts" (class, 3) and "class_sums" (class, 3, layer, head).

    Attributes:
        open_documents: The documents that the next chunk may continue.
        of_document: The shapes of a document's sums.
    """

    def __init__(self, layers: int, heads: int) -> None:
        super().__init__({"class_counts": (3,), "class_sums": (3, layers, heads)}, float)
        self.rows([ALL_WORDS])
        self.open_documents = OpenDocuments[NamedSums](self._close)
        self.of_document = {"words": (), "attention": (layers, heads)}

    def add(
        self,
        sentences: Sequence[Sequence[Iterable[ClassName]]],
        received: np.ndarray,
        causal: bool,
        units: Sequence[int] = (),
    ) -> None:
        """Add a batch.

        Args:
            sentences: For each sentence the classes of each word, besides ALL_WORDS.
            received: (layer, sentence, head, word) attention from all words of a sentence to each word.
            causal: Whether a word attends only to itself and to earlier ones.
            units: The numbers of the sentences' documents, where these are the units; else empty.
        """
        self.rows(name for words in sentences for names in words for name in names)
        size = max(map(len, sentences))
        batch_members = np.zeros((len(sentences), size, len(self.names)))
        documents = [self.open_documents.sums.setdefault(unit, NamedSums(self.of_document, float)) for unit in units]
        for index, (words, members) in enumerate(zip(sentences, batch_members, strict=True)):
            for word, names in enumerate(words):
                members[word, [self.names[name] for name in (ALL_WORDS, *names)]] = 1
            n = len(words)
            own = members[:n].T  # (class, word)
            uniform = np.ones(n)  # what each word receives from uniform attention
            if causal:
                visible = np.arange(n, 0, -1)
                uniform = np.cumsum(1 / visible)[::-1]
            is_unit = np.zeros(len(own)) if documents else own.any(1)
            self.sums["class_counts"] += np.stack([own.sum(1), own @ uniform, is_unit], 1)
            if documents:
                rows = documents[index].rows(self.names)
                documents[index].sums["words"][rows] += own.sum(1)
        for layer, of_layer in enumerate(received):
            x = of_layer.astype(np.float64) @ batch_members  # (sentence, head, class)
            self.sums["class_sums"][:, 0, layer] += x.sum(0).T
            if not documents:
                products = np.stack([x[..., :1] * x, x**2]).sum(1)
                self.sums["class_sums"][:, 1:, layer] += products.transpose(2, 0, 1)
            for document, of_sentence in zip(documents, x, strict=False):
                document.sums["attention"][:, layer] += of_sentence.T

    def _close(self, documents: Mapping[int, NamedSums]) -> None:
        """Add the products of documents' sums."""
        for document in documents.values():
            rows = self.rows(document.names)
            x = document.sums["attention"]  # (class, layer, head)
            self.sums["class_counts"][rows, 2] += document.sums["words"] > 0
            self.sums["class_sums"][rows, 1:] += np.stack([x[document.names[ALL_WORDS]] * x, x**2], 1)

    def __iadd__(self, other: Self) -> Self:
        """Add the sums of the next chunk, with its incomplete documents."""
        self.open_documents.merge(other.open_documents)  # It adds to the sums of both, which are added after it.
        return super().__iadd__(other)

    def state(self) -> dict[str, Any]:
        self.open_documents.close_inner()
        return super().state() | {"documents": self.open_documents.to_bytes(NamedSums.state)}

    def restore(self, state: Mapping[str, Any]) -> Self:
        sums = dict(state)
        self.open_documents.restore(sums.pop("documents"), NamedSums.of_state)
        return super().restore(sums)

    def values(self) -> dict[str, Any]:
        """The fields of the result, the classes of a scheme by falling number of words."""
        words = self.sums["class_counts"][:, 0]
        order = sorted(self.names, key=lambda name: (name[0], -words[self.names[name]], name[1]))
        rows = [self.names[name] for name in order]
        sums = {name: each[rows] for name, each in self.sums.items()}
        return {"classes": list(map(list, order))} | sums


class WordClasses:
    """Attention to classes of words (docs/methods.md, section 6, Words attended to), from the sums in a result.

    Attributes:
        names: From (scheme, label) to the row of a class.
        counts: (class, 3) words, words weighted by what uniform attention gives each, and units that have one.
        sums: (class, 3, layer, head) sums over units of x, m x and x squared, with x the attention from words to the
            words of the class, and m that to all words.
    """

    def __init__(self, result: Any) -> None:
        self.names = {(scheme, label): row for row, (scheme, label) in enumerate(result.classes)}
        self.counts: np.ndarray = result.class_counts
        self.sums: np.ndarray = result.class_sums
        self._shares: dict[str, tuple[list[str], np.ndarray, np.ndarray]] = {}

    @property
    def to_words(self) -> np.ndarray:
        """(layer, head) mean share of a word's attention that goes to words, not special tokens."""
        return share(self.sums[0, 0], self.counts[0, 0])

    @property
    def expected(self) -> np.ndarray:
        """(class,) shares under uniform attention."""
        return share(self.counts[:, 1], self.counts[0, 1])

    def schemes(self, view: str) -> list[str]:
        """Part of speech, where the treebank has these, and the relations of a view."""
        schemes = {scheme for scheme, _ in self.names}
        return [scheme for scheme in (PART_OF_SPEECH, view) if scheme in schemes]

    def shares(self, scheme: str) -> tuple[list[str], np.ndarray, np.ndarray]:
        """The classes of a scheme that have MIN_WORDS or more words.

        Returns:
            Their names; (class, layer, head) their shares of each head's attention, NaN for a head that attends to no
            word; (class,) their shares under uniform attention.
        """
        if scheme not in self._shares:  # They are kept, because every head is described by them.
            words = self.counts[:, 0]
            names = [name for name, row in self.names.items() if name[0] == scheme and words[row] >= MIN_WORDS]
            rows = [self.names[name] for name in names]
            shares = share(self.sums[rows, 0], self.sums[0, 0])
            self._shares[scheme] = [label for _, label in names], shares, self.expected[rows]
        return self._shares[scheme]

    def attended(self, scheme: str, head: Head) -> pd.DataFrame:
        """A row for each of these classes, the largest share first; none for a head that attends to no word."""
        names, shares, expected = self.shares(scheme)
        own = shares[:, *head]
        frame = pd.DataFrame({"name": names, "share": own, "expected": expected, "times": own / expected})
        return frame.dropna().sort_values("share", ascending=False, kind="stable", ignore_index=True)

    def preferred(self, scheme: str, heads: Sequence[Head]) -> list[str]:
        """For each head the class that gets most beyond its share, as "det 41% (4.6 times their share)", or ""."""
        names, shares, expected = self.shares(scheme)
        texts = []
        for head in heads:
            own = shares[:, *head]
            gain = own - expected
            text = ""
            if gain.max(initial=0) > 0:
                row = int(gain.argmax())
                text = f"{names[row]} {own[row]:.0%} ({own[row] / expected[row]:.1f} times their share)"
            texts.append(text)
        return texts

    def frame(self, view: str) -> pd.DataFrame:
        """A row for each class and each head, with the half-widths of the shares' 95% intervals over units."""
        names = [name for scheme in self.schemes(view) for name in self.names if name[0] == scheme]
        rows = [self.names[name] for name in names]
        x, mx, xx = self.sums[rows].swapaxes(0, 1)
        m, mm = (np.broadcast_to(sums, x.shape) for sums in self.sums[0, [0, 2]])
        units = np.full(x.shape, self.counts[0, 2])
        error, effective = error_by_document(m, x, np.stack([units, mm, mx, xx]))
        half = t_quantile(effective - 1) * error
        shares = share(x, m).reshape(len(rows), -1)
        expected = self.expected[rows][:, None]
        columns = {"n": self.counts[rows, 0].astype(int), "share": shares}
        columns |= {"share_interval": half.reshape(shares.shape)}
        columns |= {"expected": expected, "times": shares / expected}
        heads = all_keys(*self.sums.shape[2:])
        frame = tidy({"class": [label for _, label in names], "head": heads}, columns)
        frame.insert(0, "scheme", np.repeat([scheme for scheme, _ in names], len(heads)))
        return frame
