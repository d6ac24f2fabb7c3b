"""What a model guesses for a word with and without a head, against hooks on the library's own model."""

import math
from pathlib import Path

import pytest

from bertviz_core.heads import Head
from bertviz_core.models import checkpoint
from bertviz_core.models.guesses import BEST, can_guess, guesses, losses, positions
from bertviz_core.models.loading import load_to_view
from bertviz_core.models.single_input import from_text
from bertviz_core.settings import Settings
from tests.oracles.ablation import Ablated
from tests.support.predicting import DECODERS, eager, load, save

TEXT = "the old cat sat near the door"


@pytest.mark.parametrize("family", ["bert", "gpt2", "llama"])
def test_probabilities_are_those_of_hooks(family: str, tmp_path: Path) -> None:
    """The likeliest tokens of the whole model come first, and the word that stands there is among them."""
    model = load(save(family, tmp_path))
    single = from_text(TEXT, "", model.tokens, Settings())
    position = positions(model, single)[-1]
    found = guesses(model, single, position, Head(1, 1))
    literal = Ablated(eager(family, tmp_path), family, model.layers, model.heads)
    ids = single.example.ids.tolist()
    read = [*ids] if model.causal else [*ids[:position], model.tokens.mask, *ids[position + 1 :]]

    def shares(off: set[tuple[int, int]]) -> list[float]:
        """The probability of every token."""
        every = []
        for token in range(literal.model.config.vocab_size):
            labels = [-100] * len(ids)
            labels[position - (family in DECODERS)] = token
            example = {"input_ids": read, "token_type_ids": [0] * len(ids), "labels": labels}
            every.append(math.exp(-literal.without(example, model.has_types, off)[0]))
        return every

    whole, without = shares(set()), shares({(1, 1)})
    order = sorted(range(len(whole)), key=lambda token: -whole[token])[:BEST]
    listed = list(dict.fromkeys([*order, max(range(len(without)), key=without.__getitem__), ids[position]]))
    assert [each.whole for each in found.guesses] == pytest.approx([whole[token] for token in listed], abs=1e-5)
    assert [each.without for each in found.guesses] == pytest.approx([without[token] for token in listed], abs=1e-5)
    assert [each.is_right for each in found.guesses] == [token == ids[position] for token in listed]
    assert found.is_next == (family in DECODERS) and whole != pytest.approx(without, abs=1e-4)


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_losses_are_those_of_the_guesses(family: str, tmp_path: Path) -> None:
    model = load(save(family, tmp_path))
    single = from_text(TEXT, "", model.tokens, Settings())
    places = positions(model, single)
    rows = [guesses(model, single, place, Head(1, 1)).guesses for place in places]
    right = [next(each for each in row if each.is_right) for row in rows]
    assert losses(model, single, places) == pytest.approx([-math.log(each.whole) for each in right], abs=1e-4)
    without = losses(model, single, places, Head(1, 1))
    assert without == pytest.approx([-math.log(each.without) for each in right], abs=1e-4)


def test_special_tokens_and_what_nothing_comes_before_are_not_guessed(tmp_path: Path) -> None:
    encoder, decoder = (load(save(family, tmp_path / family)) for family in ("bert", "gpt2"))
    assert positions(encoder, from_text(TEXT, "", encoder.tokens, Settings())) == [*range(1, 8)]
    first = from_text(TEXT, "", decoder.tokens, Settings())
    assert 0 not in positions(decoder, first) and can_guess(encoder) and can_guess(decoder)


def test_a_model_without_a_head_for_words_guesses_none(tiny_folder: Path) -> None:
    assert not can_guess(load_to_view(checkpoint.find_checkpoint(str(tiny_folder))))
