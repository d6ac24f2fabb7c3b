"""Compositions and eigenvalues are those of TransformerLens; skipped where it is not installed."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.run.compute import compute
from bertviz_core.analyses.weights.result import HeadWeights
from bertviz_core.corpora.files import sample
from bertviz_core.models import checkpoint
from bertviz_core.settings import Execution, Settings
from tests.support import predicting

SETTINGS = Settings(max_length=30, limit=25)


def hooked(family: str, folder: Path) -> Any:
    """The same model in TransformerLens, its norms folded and its matrices centered, as it opens one by default."""
    lens = pytest.importorskip("transformer_lens")
    conversions = pytest.importorskip("transformer_lens.pretrained.weight_conversions")
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager")
    config = model.config
    heads, width = config.num_attention_heads, config.hidden_size
    parts: dict[str, Any] = {
        "n_layers": config.num_hidden_layers,
        "d_model": width,
        "n_heads": heads,
        "d_head": getattr(config, "head_dim", width // heads),
        "d_mlp": getattr(config, "intermediate_size", 4 * width),
        "n_ctx": config.max_position_embeddings,
        "d_vocab": config.vocab_size,
    }
    if family == "gpt2":
        own = lens.HookedTransformerConfig(**parts, act_fn="gelu_new", normalization_type="LN")
        state = conversions.convert_gpt2_weights(model, own)
    else:
        shared = {"n_key_value_heads": config.num_key_value_heads, "gated_mlp": True, "final_rms": True}
        rotary = {"positional_embedding_type": "rotary", "rotary_dim": parts["d_head"], "original_architecture": "LlamaForCausalLM"}
        own = lens.HookedTransformerConfig(**parts, **shared, **rotary, act_fn="silu", normalization_type="RMS")
        state = conversions.convert_llama_weights(model, own)
    found = lens.HookedTransformer(own)
    is_centered = family == "gpt2"
    found.load_and_process_state_dict(state, center_unembed=True, center_writing_weights=is_centered)
    return found


@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_compositions_and_eigenvalues_are_those_of_its_factored_matrices(family: str, tmp_path: Path) -> None:
    folder = predicting.save(family, tmp_path)
    model = hooked(family, folder)
    request = Request("weights", checkpoint.find_checkpoint(str(folder)), sample("vocabulary"), SETTINGS)
    result = compute(request, None, Execution("cpu"))
    assert isinstance(result, HeadWeights)
    for part, mode in (("query", "Q"), ("key", "K"), ("value", "V")):
        path = next(each for each in result.paths if each.partition("_")[0] == part)
        scores = model.all_composition_scores(mode)[0, :, 1].T  # (earlier head, later head), of offset 0
        np.testing.assert_allclose(result.composition[result.paths.index(path), 1, :, 0], scores.numpy(), atol=1e-5)
    values = (model.W_E @ model.OV @ model.W_U).eigenvalues
    shares = (values.sum(-1).real / values.abs().sum(-1)).numpy()
    np.testing.assert_allclose(result.eigenvalues, shares, atol=1e-4)
