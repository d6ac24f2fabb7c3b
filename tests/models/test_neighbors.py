"""Results of an input do not depend on the inputs beside it in a batch, nor on those before it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from bertviz_core.engine.forward_pass import extract
from bertviz_core.engine.progress import Progress
from bertviz_core.inputs.encoding import Encoded, buckets, collate
from bertviz_core.models import checkpoint, loading
from bertviz_core.models.attention import forward
from bertviz_core.models.checkpoint import describe
from bertviz_core.models.configuration import common_numbers
from bertviz_core.models.rotary import length_limit
from bertviz_core.models.verification import unrounded
from tests.support.architectures import ARCHITECTURES, POSITIONS, REFUSED, WINDOW, family_of, save
from tests.support.families import gpt2_bpe

LENGTHS = (9, POSITIONS, 300, 40, 3, 17, 70, 16, POSITIONS - 1, 5, 64, 65, 9)
QUICK = ("bert", "t5", "mistral", "xlnet")
# Names of lengths in configurations. Past one of the second kind the product takes no input.
LIMIT = re.compile(r"window|bucket|chunk|local|clamp|block_size|(max|original).*(position|distance)|n_positions|n_ctx")
POSITION_LIMITS = ("max_position_embeddings", "n_positions")
# Numbers that match, or are as large, and are no length that decides what is attended to.
OTHER = re.compile(r"^chunk_size_feed_forward$|^max_window_layers$|^num_local_experts$|^vocab_size|_token_id$|theta$")
UNUSED = re.compile(r"^(mem|reuse)_len$")  # of states of an earlier input, which are never given
LONGROPE = {"rope_type": "longrope", "rope_theta": 10000.0, "factor": 8.0, "original_max_position_embeddings": 64}
LONGROPE |= {"short_factor": [1.0] * 4, "long_factor": [4.0] * 4}
DYNAMIC = {"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 4.0}
SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
SIZES |= {"initializer_range": 0.3, "pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3}


def inputs_of(model: Any, lengths: tuple[int, ...] = LENGTHS) -> list[Encoded]:
    longest = model.checkpoint.max_length or max(lengths)
    draw = np.random.default_rng(0)
    arrays = [draw.choice(model.tokens.ordinary, min(length, longest)) for length in lengths]
    return [Encoded(number, "", ids, np.zeros_like(ids)) for number, ids in enumerate(arrays)]


def maps_in_batches(model: Any, examples: list[Encoded], batch_tokens: int) -> list[np.ndarray]:
    """(layer, head, query, key) of each example."""
    maps: list[Any] = [[] for _ in examples]
    for group in buckets(examples, batch_tokens, model.length_limit):

        def observe(layer: Any, group: list[Encoded] = group) -> None:
            for row, example in zip(layer.weights, group, strict=True):
                maps[example.number].append(row[:, : len(example), : len(example)].numpy())

        forward(model, collate(group, model.tokens, "cpu"), observe)
    return [np.stack(layers) for layers in maps]


def alone(folder: Path, example: Encoded, tokens: Any) -> np.ndarray:
    """What the library returns for one input, with a model that has seen no other."""
    fresh = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    with torch.inference_mode():
        attentions = fresh(input_ids=torch.from_numpy(example.ids)[None], output_attentions=True).attentions
    return torch.stack(attentions)[:, 0].numpy()


def check_neighbors(model: Any, lengths: tuple[int, ...] = LENGTHS) -> None:
    examples = inputs_of(model, lengths)
    with unrounded(model):  # rounding, which differs with the shape of products, is no neighbor
        expected = maps_in_batches(model, examples, 1)
        for batch_tokens in (16, 4096):
            for one, other in zip(expected, maps_in_batches(model, examples, batch_tokens), strict=True):
                np.testing.assert_allclose(other, one, atol=1e-5, rtol=0)


ANALYZED = [name for name, family in ARCHITECTURES.items() if family.way != REFUSED]
ONE_OF_EACH = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in ANALYZED]


def configuration(model_type: str) -> Any:
    family = family_of(model_type)
    return getattr(transformers, family.config)(**family.sizes)


def entries(config: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Names and values of a configuration, and of those inside it; of a list, one for each layer, each value."""
    for name, value in config.items():
        if isinstance(value, dict):
            yield from entries(value)
        elif isinstance(value, list):
            yield from ((str(name), each) for each in value)
        else:
            yield str(name), value


def limits(model_type: str) -> list[tuple[str, Any]]:
    """The lengths that a small model's configuration names, and settings that turn one off."""
    numbers = [(name, value) for name, value in entries(configuration(model_type).to_dict())]
    known = [each for each in numbers if not OTHER.search(each[0]) and not UNUSED.search(each[0])]
    large = [(name, value) for name, value in known if type(value) is int and value > max(LENGTHS)]
    named = [(name, value) for name, value in known if LIMIT.search(name) and not isinstance(value, str)]
    return sorted({*large, *named}, key=str)


@pytest.mark.parametrize("model_type", ANALYZED)
def test_an_input_is_past_every_limit_of_a_family(model_type):
    """So that a family that is added with a limit of its own has it on, and below the lengths that are tried."""
    config = checkpoint.Checkpoint("", Path(), config=common_numbers(configuration(model_type)))
    longest = min(max(LENGTHS), config.max_length or max(LENGTHS))
    for name, value in limits(model_type):
        assert value, f"{name} is off in the small model"
        assert value is True or name in POSITION_LIMITS or 0 < value < longest, f"{name} is {value}"


@pytest.mark.parametrize("model_type", ONE_OF_EACH)
def test_maps_of_a_family_do_not_depend_on_the_batch(model_type, tmp_path):
    """Lengths on both sides of windows and of relative positions' buckets, and the longest that there is."""
    model = loading.load(checkpoint.find_checkpoint(str(save(model_type, tmp_path))), "cpu")
    assert max(map(len, inputs_of(model))) == min(max(LENGTHS), model.checkpoint.max_length or max(LENGTHS))
    check_neighbors(model)
    if WINDOW in dict(limits(model_type)).values():
        check_window(model)


def check_window(model: Any) -> None:
    """Some layer attends to nothing as far away as the window is wide, and to something that is nearer."""
    (example,) = inputs_of(model, (POSITIONS - 1,))
    (maps,) = maps_in_batches(model, [example], 1)
    query, key = np.indices(maps.shape[2:])
    distant = abs(query - key) >= WINDOW
    narrow = ~maps[:, :, distant].any(axis=(1, 2))
    assert narrow.any() and maps[narrow][:, :, ~distant & (query != key)].any()


def rotary(folder: Path, kind: str, **settings: Any) -> Any:
    """A random decoder with these settings, whose tokenizer adds no special token."""
    tokenizer = gpt2_bpe()
    config = getattr(transformers, f"{kind}Config")(vocab_size=len(tokenizer), **SIZES, **settings)
    torch.manual_seed(0)
    getattr(transformers, f"{kind}ForCausalLM")(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return loading.load(checkpoint.find_checkpoint(str(folder)), "cpu")


def phi3(folder: Path) -> Any:
    more = {"max_position_embeddings": 512, "original_max_position_embeddings": 64, "num_key_value_heads": 2}
    return rotary(folder, "Phi3", rope_parameters=LONGROPE, **more)


def llama(folder: Path) -> Any:
    return rotary(folder, "Llama", rope_parameters=DYNAMIC, max_position_embeddings=64)


@pytest.mark.parametrize("make", [phi3, llama])
def test_an_input_past_the_limit_decides_no_positions_but_its_own(make, tmp_path):
    model = make(tmp_path)
    assert model.length_limit == 64
    model.checkpoint.config.pop("max_position_embeddings")  # inputs past it, too, which an analysis would refuse
    examples = inputs_of(model)
    assert {len(example) > 64 for example in examples} == {True, False}
    expected = [alone(tmp_path, example, model.tokens) for example in examples]
    for batch_tokens in (1, 16, 1000, 4096):
        for maps, own in zip(maps_in_batches(model, examples, batch_tokens), expected, strict=True):
            np.testing.assert_allclose(maps, own, atol=2e-5, rtol=0)
    apart = np.abs(maps_in_batches(model, examples[:1], 1)[0] - mixed(model, examples[:2])).max()
    assert apart > 1e-3  # else the limit would not matter here


@pytest.mark.parametrize("make", [phi3, llama])
def test_the_limit_of_a_kind_of_positions_that_is_not_known_is_tried(make, tmp_path, monkeypatch):
    monkeypatch.setattr("bertviz_core.models.rotary.KINDS", ())
    assert make(tmp_path).length_limit == 64


@pytest.mark.parametrize("rope", [{"rope_type": "default"}, {"rope_type": "linear", "factor": 4.0}])
def test_positions_that_never_change_have_no_limit(rope, tmp_path):
    settings = {"rope_parameters": rope | {"rope_theta": 10000.0}, "max_position_embeddings": 64}
    assert rotary(tmp_path, "Llama", **settings).length_limit is None


def mixed(model: Any, examples: list[Encoded]) -> np.ndarray:
    """The first input's maps beside the second in one batch, as they would be without the limit."""
    layers: list[Any] = []
    forward(model, collate(examples, model.tokens, "cpu"), layers.append)
    size = len(examples[0])
    return np.stack([layer.weights[0, :, :size, :size].numpy() for layer in layers])


def test_a_model_in_memory_forgets_the_inputs_that_it_has_seen(tmp_path):
    """Dynamic scaling keeps the frequencies of the longest input so far."""
    llama(tmp_path)
    model = transformers.AutoModelForCausalLM.from_pretrained(tmp_path)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    before = describe(model, tokenizer)
    with torch.inference_mode():
        model(torch.arange(120)[None])
    after = describe(model, tokenizer)
    assert before.fingerprint() == after.fingerprint()
    copied = loading.model_in_memory((model, tokenizer), after)
    (example,) = inputs_of(copied, (64,))
    (maps,) = maps_in_batches(copied, [example], 64)
    np.testing.assert_allclose(maps, alone(tmp_path, example, copied.tokens), atol=1e-5, rtol=0)


def test_maps_in_a_file_do_not_depend_on_the_batch_either(tmp_path):
    from safetensors.numpy import load_file

    model = phi3(tmp_path)
    examples = inputs_of(model)
    written = []
    for batch_tokens in (1, 4096):
        extract(model, examples, tmp_path / "maps", Progress(), batch_tokens)
        written.append(load_file(tmp_path / "maps"))
    for name, maps in written[0].items():
        np.testing.assert_allclose(written[1][name], maps, atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    ("config", "limit"),
    [
        ({}, None),
        ({"rope_parameters": {"rope_type": "default"}, "max_position_embeddings": 9}, None),
        ({"rope_parameters": {"rope_type": "yarn", "original_max_position_embeddings": 9}}, None),
        ({"rope_parameters": {"rope_type": "longrope", "original_max_position_embeddings": 9}}, 9),
        ({"rope_scaling": {"type": "su"}, "original_max_position_embeddings": 7, "max_position_embeddings": 99}, 7),
        ({"rope_scaling": {"rope_type": "dynamic"}, "max_position_embeddings": 99}, 99),
        ({"rope_parameters": {"rope_type": "longrope"}}, 0),
        (
            {
                "rope_parameters": {"full": {"rope_type": "dynamic"}, "local": {"rope_type": "default"}},
                "max_position_embeddings": 5,
            },
            5,
        ),
        ({"text_config": {"rope_scaling": {"type": "dynamic"}, "max_position_embeddings": 3}}, 3),
    ],
)
def test_the_limit_is_read_from_every_form_of_configuration(config, limit):
    assert length_limit(config) == limit


def test_past_the_limit_a_batch_has_inputs_of_one_length():
    arrays = [np.zeros(length, dtype=np.int64) for length in (5, 9, 9, 12, 3, 9)]
    examples = [Encoded(number, "", ids, ids) for number, ids in enumerate(arrays)]
    lengths = [[len(example) for example in group] for group in buckets(examples, 100, 6)]
    assert lengths == [[12], [9, 9, 9], [5, 3]]
    assert [len(group) for group in buckets(examples, 100)] == [6]
    assert [len(group) for group in buckets(examples, 18, 6)] == [1, 2, 1, 2]
