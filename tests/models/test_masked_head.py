"""A masked-word head is found, or missed, by the names of the weights alone, as loading finds it with torch."""

from __future__ import annotations

import pytest

from bertviz_core.errors import ModelError
from bertviz_core.models import masking
from bertviz_core.models.checkpoint import find
from bertviz_core.models.loading import load
from tests import families

WITH_HEAD = sorted(families.FAMILIES.keys() - {"gpt2", "xlnet"})


@pytest.mark.parametrize("family", WITH_HEAD)
def test_a_head_that_loads_is_found(family, tmp_path):
    folder = families.save(families.FAMILIES[family], tmp_path, auto="AutoModelForMaskedLM")
    masking.check_masked_head(find(str(folder)))
    assert load(find(str(folder)), "cpu", masked_lm=True).masked_lm is not None


@pytest.mark.parametrize("family", sorted(families.FAMILIES))
def test_a_bare_encoder_has_none(family, tmp_path):
    checkpoint = find(str(families.save(families.FAMILIES[family], tmp_path)))
    with pytest.raises(ModelError, match="no masked-word head") as caught:
        masking.check_masked_head(checkpoint)
    assert caught.value.hint


@pytest.mark.parametrize("config", ["XLMConfig", "FlaubertConfig"])
def test_a_head_whose_class_has_another_name_is_found(config, tmp_path):
    sizes = {"emb_dim": 16, "n_layers": 2, "n_heads": 2}
    family = families.Family(config, sizes, families.wordpiece)
    folder = families.save(family, tmp_path, auto="AutoModelForMaskedLM")
    assert load(find(str(folder)), "cpu", masked_lm=True).masked_lm is not None


def test_a_causal_head_is_another_thing(tmp_path):
    folder = families.save(families.FAMILIES["gpt2"], tmp_path, auto="AutoModelForCausalLM")
    with pytest.raises(ModelError, match="GPT2LMHeadModel"):
        masking.check_masked_head(find(str(folder)))


def test_the_demo_has_one():
    masking.check_masked_head(find("demo"))
