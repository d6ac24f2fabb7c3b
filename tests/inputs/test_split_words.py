"""The share of split words is counted over the words of each kind of corpus."""

import pytest

from bertviz_core.corpora.source import from_bytes
from bertviz_core.inputs import split_words
from bertviz_core.inputs.split_words import split_share
from bertviz_core.models import checkpoint, loading

TREES = "the 2-det\ncat 3-nsubj\nzzyzxed 0-root\nhere 3-advmod\n"
CHAINS = '{"sentences": [["she", "zzyzxed"]], "clusters": [[[0, 0], [1, 1]]]}\n'


@pytest.mark.parametrize(
    ("kind", "text", "share"),
    [
        ("treebank", TREES, 1 / 4),
        ("coreference", CHAINS, 1 / 2),
        ("text", "The cat, they zzyzxed.\n\nHere!\n", 1 / 5),
        ("text", '{"text": "the zzyzxed."}\n{"words": ["the", "cat"]}\n', 1 / 4),
    ],
)
def test_the_share_of_words_in_pieces(kind: str, text: str, share: float) -> None:
    tokens = loading.load_tokens(checkpoint.find_checkpoint("demo"))
    assert split_share(kind, from_bytes(text.encode(), "given"), tokens) == share


def test_only_the_beginning_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(split_words, "SAMPLE", 2)
    tokens = loading.load_tokens(checkpoint.find_checkpoint("demo"))
    assert split_share("treebank", from_bytes(TREES.encode(), "given"), tokens) == 0
