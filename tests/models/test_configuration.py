"""Configurations as transformers reads them; the lists of names here are compared with the installed transformers."""

import re
from pathlib import Path

import pytest
import torch

from bertviz_core.errors import ModelError
from bertviz_core.models import checkpoint, checkpoint_files, loading
from bertviz_core.models.families import AFTER_ONE, AFTER_PADDING
from tests.models.test_load_report import configure
from tests.support.families import FAMILIES, wordpiece

SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 32}
SIZES |= {"max_position_embeddings": 64, "num_key_value_heads": 2, "head_dim": 8, "pad_token_id": 0}
VISION = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}


def multimodal():
    from transformers import Gemma3Config, Gemma3ForConditionalGeneration, Gemma3TextConfig, SiglipVisionConfig

    text = Gemma3TextConfig(vocab_size=len(wordpiece()) + 8, **SIZES).to_dict()
    vision = SiglipVisionConfig(**VISION, image_size=28, patch_size=14).to_dict()
    return Gemma3ForConditionalGeneration(Gemma3Config(text_config=text, vision_config=vision, mm_tokens_per_image=4))


def vision_language():
    from transformers import Qwen2VLConfig, Qwen2VLForConditionalGeneration

    rope = {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 1e4}
    sizes = {name: size for name, size in SIZES.items() if name not in ("head_dim", "pad_token_id")}
    text = {**sizes, "hidden_size": 32, "vocab_size": len(wordpiece()) + 8, "rope_parameters": rope}
    vision = {"depth": 1, "embed_dim": 16, "num_heads": 2, "hidden_size": 32, "mlp_ratio": 1, "patch_size": 14}
    return Qwen2VLForConditionalGeneration(Qwen2VLConfig(text_config=text, vision_config=vision))


def gemma3n():
    from transformers import Gemma3nForCausalLM, Gemma3nTextConfig

    own = {"num_kv_shared_layers": 0, "layer_types": ["sliding_attention", "full_attention"], "sliding_window": 8}
    own |= {"hidden_size_per_layer_input": 8, "vocab_size_per_layer_input": len(wordpiece()), "laurel_rank": 4}
    return Gemma3nForCausalLM(Gemma3nTextConfig(vocab_size=len(wordpiece()), **(SIZES | own)))


def xglm():
    from transformers import XGLMConfig, XGLMForCausalLM

    own = {"d_model": 16, "num_layers": 2, "attention_heads": 4, "ffn_dim": 32, "max_position_embeddings": 64}
    return XGLMForCausalLM(XGLMConfig(vocab_size=len(wordpiece()), **own))


@pytest.mark.parametrize("make", [multimodal, vision_language, gemma3n, xglm])
def test_nested_and_unusual_configurations_are_read_as_transformers_does(make, tmp_path):
    torch.manual_seed(0)
    make().save_pretrained(tmp_path)
    wordpiece().save_pretrained(tmp_path)
    found = checkpoint.find_checkpoint(str(tmp_path))
    assert (found.layers, found.heads) == (2, 4)
    assert found.max_length == 64
    model = loading.load(found, "cpu")
    assert (model.layers, model.heads) == (2, 4) and model.causal


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"model_type": "nothing-known", "hidden_size": None}, r"knows no model of type 'nothing-known'"),
        ({"model_type": "mamba", "num_attention_heads": None}, "without attention heads"),
        ({"text_config": {"vocab_size": 10**9}}, "vocab_size is above"),
    ],
)
def test_configurations_that_cannot_be_used_are_refused_with_the_true_reason(folder, entries, message):
    configure(folder, **entries)
    with pytest.raises(ModelError, match=message) as caught:
        checkpoint.find_checkpoint(str(folder))
    assert caught.value.hint


def test_every_family_of_transformers_that_counts_positions_from_the_paddings_is_known():
    """By its source: its embeddings are made with the padding's index, or its positions by the function for that."""
    import transformers
    from transformers import CONFIG_MAPPING
    from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES

    models = Path(transformers.__file__).parent / "models"
    families = set()
    for name in MODEL_FOR_MASKED_LM_MAPPING_NAMES:
        module = CONFIG_MAPPING[name].__module__.rpartition(".")[2].replace("configuration_", "modeling_")
        folder = CONFIG_MAPPING[name].__module__.split(".")[2]
        source = (models / folder / f"{module}.py").read_text(encoding="utf-8")
        if re.search(r"position_ids_from_input_ids|padding_idx \+ 1", source):
            families.add(name)
    known = {*AFTER_PADDING, *AFTER_ONE}
    assert families - known <= {"m2m_100", "nllb-moe", "fsmt"}, families - known


def test_every_file_that_a_tokenizer_of_transformers_reads_is_part_of_the_fingerprint():
    import transformers

    root = Path(transformers.__file__).parent
    named = set()
    for path in [*root.glob("models/*/tokenization_*.py"), *root.glob("tokenization*.py")]:
        if block := re.search(r"VOCAB_FILES_NAMES\s*=\s*\{(.*?)\}", path.read_text(encoding="utf-8"), re.DOTALL):
            named |= set(re.findall(r":\s*\"([^\"]+)\"", block[1]))
    assert len(named) > 20
    assert named <= {*checkpoint_files.TOKENIZERS, *checkpoint_files.BESIDE}


def test_sizes_under_common_names_import_nothing(tiny_folder):
    from tests.test_imports import HEAVY, loaded_by

    found = f"find_checkpoint({str(tiny_folder)!r})"
    code = f"from bertviz_core.models.checkpoint import find_checkpoint; assert {found}.layers == 2"
    assert not loaded_by(code) & HEAVY
    assert FAMILIES["bert"].layers == 2
