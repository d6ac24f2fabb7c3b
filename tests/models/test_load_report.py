"""What a model's files say and its computation does not use: refused by name where it changes maps, else said once."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.run.compute import compute
from bertviz_core.corpora.source import from_bytes
from bertviz_core.errors import ModelError
from bertviz_core.inputs.encoding import collate
from bertviz_core.inputs.segments import Segments
from bertviz_core.models import checkpoint, loading
from bertviz_core.models.attention import forward
from bertviz_core.settings import Settings
from tests.support.families import FAMILIES, save
from tests.support.running import run

Weights = dict[str, torch.Tensor]


def edit(folder: Path, change: Callable[[Weights], Weights]) -> None:
    path = folder / "model.safetensors"
    changed = {name: weight.contiguous() for name, weight in change(load_file(path)).items()}
    save_file(changed, path, metadata={"format": "pt"})


def configure(folder: Path, **entries: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | entries))


def load(folder: Path):
    return loading.load(checkpoint.find_checkpoint(str(folder)), "cpu")


def refused(folder: Path) -> ModelError:
    with pytest.raises(ModelError) as caught:
        load(folder)
    assert caught.value.hint
    return caught.value


AT = "encoder.layer.0."
UNUSED = {
    "relative positions": f"{AT}attention.self.distance_embedding.weight",
    "an adapter": f"{AT}output.adapters.task.adapter_up.weight",
    "a layer more": "encoder.layer.2.attention.self.query.weight",
}


@pytest.mark.parametrize("kind", UNUSED)
def test_weights_inside_the_encoder_that_nothing_uses_refuse_the_model_by_name(folder, kind):
    edit(folder, lambda weights: weights | {UNUSED[kind]: torch.randn(8, 8)})
    error = refused(folder)
    assert UNUSED[kind] in error.what and "does not use" in error.what
    if kind == "a layer more":
        assert "layers in config.json is 2" in error.hint
    if kind == "an adapter":
        assert "Merge" in error.hint


def test_what_old_versions_saved_beside_the_weights_refuses_nothing(folder, tmp_path):
    edit(folder, lambda weights: weights | {"embeddings.position_ids": torch.arange(64)[None]})
    assert load(folder).notices == ()
    decoder = save(FAMILIES["gpt2"], tmp_path / "decoder")
    masks = {"h.0.attn.bias": torch.ones(1, 1, 64, 64), "h.0.attn.masked_bias": torch.tensor(-1e4)}
    edit(decoder, lambda weights: weights | masks)
    assert load(decoder).notices == ()


def test_positions_that_transformers_does_not_compute_refuse_the_model(folder):
    configure(folder, position_embedding_type="absolute")
    load(folder)
    configure(folder, position_embedding_type="relative_key_query")
    error = refused(folder)
    assert "position_embedding_type 'relative_key_query'" in error.what and error.where.endswith("config.json")


def test_pruned_heads_name_the_first_weight_and_both_shapes(folder):
    def prune(weights: Weights) -> Weights:
        name = f"{AT}attention.self.query.weight"
        return weights | {name: weights[name][8:]}

    edit(folder, prune)
    error = refused(folder)
    assert f"{AT}attention.self.query.weight is 8 x 16 in the files and 16 x 16 by config.json" in error.what
    assert "pruned" not in error.hint
    configure(folder, pruned_heads={"0": [0]})
    assert "pruned_heads" in refused(folder).hint


@pytest.mark.parametrize("prefix", ["module.", "_orig_mod."])
def test_a_prefix_of_all_names_is_named(folder, prefix):
    edit(folder, lambda weights: {f"{prefix}{name}": weight for name, weight in weights.items()})
    error = refused(folder)
    assert "weights are not in the files" in error.what and f"all names begin with `{prefix}`" in error.hint


def test_layers_of_lora_in_place_are_named_with_the_way_out(folder):
    def wrap(weights: Weights) -> Weights:
        name = f"{AT}attention.self.query"
        inside = {f"{name}.base_layer.weight": weights.pop(f"{name}.weight")}
        return weights | inside | {f"{name}.lora_A.default.weight": torch.randn(4, 16)}

    edit(folder, wrap)
    assert "merge_and_unload" in refused(folder).hint


def test_a_head_that_is_not_used_is_said_once_in_provenance_and_on_standard_error(folder, store):
    edit(folder, lambda weights: weights | {"classifier.weight": torch.randn(2, 16), "classifier.bias": torch.zeros(2)})
    configure(folder, architectures=["BertForSequenceClassification"])
    expected = "Saved as BertForSequenceClassification: its weights outside the encoder (classifier.bias and 1 more)"
    request = Request(
        "entropy",
        checkpoint.find_checkpoint(str(folder)),
        from_bytes(b"the cat sat .", "x.txt"),
        Settings(max_length=40),
    )
    (notice,) = compute(request, store).provenance["notices"]
    assert notice.startswith(expected)
    text = folder.parent / "text.txt"
    text.write_text("the cat sat .\n")
    for _ in range(2):  # computed, and stored
        done = run("entropy", text, "--model", folder, "--quiet", "--max-length", "40", store=folder.parent / "kept")
        assert done.returncode == 0 and done.stderr.count(expected) == 1


def test_a_setting_of_attention_that_transformers_does_not_know_is_said(folder):
    configure(folder, talking_heads_attention=True, attention_note=0.1)
    (notice,) = load(folder).notices
    assert "talking_heads_attention" in notice


@pytest.mark.parametrize(
    "config", ["Data2VecTextConfig", "LukeConfig", "IBertConfig", "CamembertConfig", "MPNetConfig"]
)
def test_the_longest_input_is_what_the_embeddings_have_rows_for(config, tmp_path):
    from dataclasses import replace

    more = {"entity_vocab_size": 10, "entity_emb_size": 8} if config == "LukeConfig" else {}
    sizes = FAMILIES["bert"].sizes | {"pad_token_id": 0} | more
    family = replace(FAMILIES["bert"], config=config, sizes=sizes)
    found = checkpoint.find_checkpoint(str(save(family, tmp_path)))
    model = loading.load(found, "cpu")
    longest = found.max_length
    assert longest == model.checkpoint.max_length == (62 if config == "MPNetConfig" else 63)
    source = from_bytes(b"the cat " * 64, "x")
    for length in (longest, longest + 1):
        example = next(iter(Segments(source, model.tokens, Settings(max_length=length))))
        layers = []
        if length == longest:
            forward(model, collate([example], model.tokens, "cpu"), layers.append)
            assert len(layers) == 2
        else:
            with pytest.raises(ModelError, match=rf"cannot read inputs of {length} tokens \(IndexError") as caught:
                forward(model, collate([example], model.tokens, "cpu"), layers.append)
            assert caught.value.hint


def test_errors_of_observers_are_not_blamed_on_the_model(tiny, source):
    example = next(iter(Segments(source("the cat sat ."), tiny.tokens, Settings())))

    def observe(_layer: object) -> None:
        torch.zeros(2) @ torch.zeros(3)

    with pytest.raises(RuntimeError, match="size"):
        forward(tiny, collate([example], tiny.tokens, "cpu"), observe)


def test_embeddings_are_asked_where_no_list_has_the_family(tmp_path, monkeypatch):
    from bertviz_core.models import configuration

    folder = save(FAMILIES["roberta"], tmp_path)
    monkeypatch.setattr(configuration, "AFTER_PADDING", ())
    found = checkpoint.find_checkpoint(str(folder))
    assert found.max_length == 66 and loading.load(found, "cpu").checkpoint.max_length == 64


@pytest.mark.parametrize("kind", UNUSED)
def test_what_names_of_weights_tell_is_refused_when_the_model_is_found(folder, kind):
    edit(folder, lambda weights: weights | {UNUSED[kind]: torch.randn(8, 8)})
    with pytest.raises(ModelError, match="does not use"):
        checkpoint.find_checkpoint(str(folder))


def test_positions_are_refused_when_the_model_is_found(folder):
    configure(folder, position_embedding_type="relative_key")
    with pytest.raises(ModelError, match="relative_key"):
        checkpoint.find_checkpoint(str(folder))


@pytest.mark.parametrize(
    "setting",
    [
        {"output_attentions": True},
        {"return_dict": False},
        {"attn_implementation": "sdpa"},
        {"_attn_implementation": "flash_attention_2"},
        {"use_flash_attn": True},
    ],
    ids=lambda setting: next(iter(setting)),
)
def test_settings_of_outputs_and_of_kernels_change_nothing_and_say_nothing(folder, tiny, setting):
    configure(folder, **setting)
    model = load(folder)
    assert model.notices == () and model.observable == tiny.observable
    assert model.encoder.config._attn_implementation == tiny.encoder.config._attn_implementation


@pytest.mark.parametrize(("kind", "written"), [(torch.int8, "I8"), (torch.float8_e4m3fn, "F8_E4M3")])
def test_weights_of_eight_bits_without_their_factors_are_refused_by_name(folder, kind, written):
    name = f"{AT}attention.self.query.weight"
    edit(folder, lambda weights: weights | {name: (weights[name] * 20).to(kind)})
    error = refused(folder)
    assert name in error.what and f"{written} numbers" in error.what and "dequantize" in error.hint


def test_errors_of_the_configuration_do_not_blame_the_tokenizer(folder):
    configure(folder, dtype="auto")
    error = refused(folder)
    assert "tokenizer" not in error.what and "cannot be loaded" in error.what
