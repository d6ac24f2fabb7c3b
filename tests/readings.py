"""A corpus read to its end."""

from collections import deque
from typing import Any

from bertviz_core.models.reading import CorpusReading, Examples, Reading


def read_whole(examples: Examples[Any]) -> Reading:
    """What one reading of the whole corpus counts."""
    corpus = CorpusReading(examples)
    deque(corpus, maxlen=0)
    return corpus.reading
