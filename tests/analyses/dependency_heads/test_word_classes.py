"""Shares of a head's attention by class of words, with the arithmetic of one sentence."""

from types import SimpleNamespace

import numpy as np

from bertviz_core.analyses.dependency_heads import word_classes
from bertviz_core.analyses.dependency_heads.word_classes import PART_OF_SPEECH, ClassSums, WordClasses
from bertviz_core.heads import Head


def test_the_class_that_gets_most_beyond_its_share_is_named(monkeypatch):
    monkeypatch.setattr(word_classes, "MIN_WORDS", 1)
    sums = ClassSums(1, 1)
    words = [[(PART_OF_SPEECH, tag)] for tag in ("DET", "NOUN", "VERB", "NOUN")]
    received = np.array([[[[1.5, 0.3, 0.6, 0.6]]]])  # of 3 in all; the fourth went to [CLS] and [SEP]
    sums.add([words], received, causal=False)
    classes = WordClasses(SimpleNamespace(**sums.values()))
    assert classes.to_words[0, 0] == 0.75
    (preferred,) = classes.preferred(PART_OF_SPEECH, [Head(0, 0)])
    assert preferred == "DET 50% (2.0 times their share)"
    assert classes.attended(PART_OF_SPEECH, Head(0, 0))["name"].tolist() == ["DET", "NOUN", "VERB"]
