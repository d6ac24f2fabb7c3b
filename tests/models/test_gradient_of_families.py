"""The gradient of the loss in the maps of families with experts, heads of their own or odd embeddings, against autograd
through transformers' own eager attention."""

import pytest
import torch

from bertviz_core.errors import ModelError
from bertviz_core.inputs.encoding import Encoded, collate
from bertviz_core.inputs.segments import Segments
from bertviz_core.models.checkpoint import find_checkpoint
from bertviz_core.models.loading import AttentionModel, load
from bertviz_core.models.loss import LayerGradient, Targets, backward, targets_of
from bertviz_core.settings import Settings
from tests.support import architectures, families
from tests.support.families import Family, wordpiece

CTRL = Family("CTRLConfig", {"n_embd": 32, "dff": 48, "n_layer": 2, "n_head": 4, "n_positions": 64}, wordpiece)
IBERT = Family("IBertConfig", architectures.SIZES | {"type_vocab_size": 1}, wordpiece)
TOLERANCE = 2e-5  # of the largest gradient of a layer


def family_of(name: str) -> Family:
    return CTRL if name == "ctrl" else architectures.family_of(name)


def own_gradients(language_model, inputs: dict, example: Encoded, targets: Targets) -> list[torch.Tensor]:
    """(head, query, key) of each layer for one input alone, by autograd."""
    output = language_model(**inputs, output_attentions=True)
    maps = [each for each in output.attentions if each is not None]
    logits, ids = output.logits[0, :-1], torch.from_numpy(targets.apply(example)[0])
    loss = -logits.log_softmax(-1)[torch.arange(len(ids) - 1), ids[1:]].mean()
    return [gradient[0] for gradient in torch.autograd.grad(loss, maps)]


def segments_of(model: AttentionModel, source) -> list[Encoded]:
    return list(Segments(source("\n".join([*families.TEXT, "", "the dog ."])), model.tokens, Settings(max_length=40)))


@pytest.mark.parametrize("name", ["mixtral", "gpt_oss", "llama4_text", "ctrl"])
def test_gradients_of_a_padded_batch_are_those_of_autograd_for_each_input_alone(name, tmp_path, source):
    families.save(family_of(name), tmp_path, auto="AutoModelForCausalLM", spread=0.2)
    model = load(find_checkpoint(str(tmp_path)), "cpu", language_model=True)
    targets = targets_of(model.checkpoint, model.tokens, seed=0)
    examples = segments_of(model, source)
    found: dict[int, LayerGradient] = {}
    backward(
        model, collate(examples, model.tokens, "cpu"), lambda each: found.update({each.layer: each}), targets=targets
    )
    kind = type(model.language_model)
    eager = kind.from_pretrained(tmp_path, attn_implementation="eager", dtype="float32").eval()
    for row, example in enumerate(examples):
        size = len(example)
        inputs = model.inputs(collate([example], model.tokens, "cpu"))
        for layer, expected in enumerate(own_gradients(eager, inputs, example, targets)):
            ours = found[layer].gradient[row, :, :size, :size]
            torch.testing.assert_close(ours, expected, atol=TOLERANCE * float(expected.abs().max()), rtol=0)


def test_embeddings_through_which_no_gradient_passes_are_refused_in_a_sentence(tmp_path, source):
    families.save(IBERT, tmp_path, auto="AutoModelForMaskedLM")
    model = load(find_checkpoint(str(tmp_path)), "cpu", language_model=True)
    batch = collate(segments_of(model, source), model.tokens, "cpu")
    with pytest.raises(ModelError, match="a gradient in only 0 of the 4 layers") as caught:
        backward(model, batch, targets=targets_of(model.checkpoint, model.tokens, seed=0))
    assert caught.value.hint
