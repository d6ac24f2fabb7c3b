from types import SimpleNamespace

import numpy as np
import pytest

from bertviz_core.errors import ModelError
from bertviz_core.inputs.encoding import Encoded
from bertviz_core.inputs.tokens import Tokens
from bertviz_core.models.checkpoint import find_checkpoint
from bertviz_core.models.loading import load
from bertviz_core.models.loss import IGNORED, Targets, targets_of
from bertviz_core.models.model import require_lm_head
from tests.support import families
from tests.support.predicting import DECODERS, save

CLS, SEP, MASK = 2, 3, 4
VOCABULARY = 1_000
TOKENS = SimpleNamespace(mask=MASK, special=np.arange(5), ordinary=np.arange(5, VOCABULARY))


def segment(words: int, number: int = 0) -> Encoded:
    ids = np.concatenate([[CLS], np.random.default_rng(number).integers(5, VOCABULARY, words), [SEP]])
    return Encoded(number, "", ids, np.zeros_like(ids))


def masked(example: Encoded, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    return Targets(TOKENS, seed).apply(example)


def test_fifteen_percent_of_the_ordinary_tokens_at_least_one_and_nothing_else_changes():
    counts = [(masked(segment(words))[1] != IGNORED).sum() for words in (1, 3, 10, 14, 100, 126)]
    assert counts == [1, 1, 2, 2, 15, 19]
    example = segment(100)
    before = example.ids.copy()
    ids, labels = masked(example)
    selected = labels != IGNORED
    assert (labels[selected] == before[selected]).all() and (ids[~selected] == before[~selected]).all()
    assert not selected[[0, -1]].any()
    assert (example.ids == before).all()


def test_of_the_selected_tokens_80_percent_are_masked_10_random_10_kept() -> None:
    fates = np.zeros(3)
    randoms: list[int] = []
    for number in range(500):
        example = segment(100, number)
        ids, labels = masked(example)
        new, old = ids[labels != IGNORED], example.ids[labels != IGNORED]
        fates += [(new == MASK).sum(), ((new != MASK) & (new != old)).sum(), (new == old).sum()]
        randoms += new[(new != MASK) & (new != old)].tolist()
    assert np.allclose(fates / fates.sum(), [0.8, 0.1, 0.1], atol=4 * np.sqrt(0.16 / fates.sum()))
    assert min(randoms) >= 5, "a random token is never special"
    assert len(set(randoms)) > len(randoms) / 3, "random tokens are spread over the vocabulary"


def test_the_draw_depends_on_seed_and_number_alone() -> None:
    example = segment(100, 7)
    one = masked(example, 3)
    assert np.array_equal(one, masked(segment(100, 7), 3))
    same_words = Encoded(8, "", example.ids, example.types)
    for other in (masked(example, 4), masked(same_words, 3), masked(example, -3)):
        assert (one[1] != other[1]).any()


def test_a_tokenizer_without_a_mask_token_is_refused() -> None:
    tokenizer = families.wordpiece()
    tokenizer.mask_token = None
    with pytest.raises(ModelError, match="no mask token"):
        targets_of(find_checkpoint("demo"), Tokens(tokenizer), 0)


@pytest.mark.parametrize(
    ("family", "auto"),
    [("bert", "AutoModel"), ("deberta-v2", "AutoModel"), ("gpt2", "AutoModel"), ("electra", "AutoModelForPreTraining")],
)
def test_a_bare_encoder_or_a_discriminator_has_none(family, auto, tmp_path):
    checkpoint = find_checkpoint(str(families.save(families.FAMILIES[family], tmp_path, auto=auto)))
    with pytest.raises(ModelError, match="no head that predicts") as caught:
        require_lm_head(checkpoint)
    assert caught.value.hint


@pytest.mark.parametrize("family", DECODERS)
def test_the_head_of_a_decoder_predicts_next_words(family, tmp_path):
    checkpoint = find_checkpoint(str(save(family, tmp_path)))
    require_lm_head(checkpoint)
    model = load(checkpoint, "cpu", language_model=True)
    ids, labels = targets_of(checkpoint, model.tokens, 0).apply(segment(3))
    assert ids.tolist() == segment(3).ids.tolist()
    assert labels.tolist() == [*segment(3).ids[1:], IGNORED]


def test_a_next_word_head_that_sees_the_next_word_is_refused(tmp_path):
    folder = families.save(families.FAMILIES["xlnet"], tmp_path, auto="AutoModelForCausalLM")
    with pytest.raises(ModelError, match="see those after them"):
        load(find_checkpoint(str(folder)), "cpu", language_model=True)
