"""Every family's maps are those of its own eager attention, or it is refused."""

from pathlib import Path

import pytest
import torch

from bertviz_core.errors import ModelError
from bertviz_core.models import checkpoint, loading
from bertviz_core.models.attention import forward
from bertviz_core.models.encoding import collate
from bertviz_core.models.segments import Segments
from bertviz_core.settings import Settings
from tests.architectures import ARCHITECTURES, INSIDE, REFUSED, RETURNED, save
from tests.families import TEXT

QUICK = ("llama", "gemma2", "gpt_oss", "t5", "stablelm", "deepseek_v3", "convbert", "yoso")
SOURCE = "\n".join([*TEXT, "", "the dog slept ."])


def read(folder: Path, source) -> str:
    """How maps are read; those of a padded batch are compared with what the library returns for each input alone."""
    from transformers import AutoConfig

    try:
        model = loading.load(checkpoint.find(str(folder)), "cpu")
    except ModelError as refused:
        assert refused.hint
        return REFUSED
    config = AutoConfig.from_pretrained(folder)
    eager = type(model.encoder).from_pretrained(folder, config=config, attn_implementation="eager", dtype="float32")
    examples = list(Segments(source(SOURCE), model.tokens, Settings(max_length=40)))
    batch = collate(examples, model.tokens, "cpu")
    assert not batch.mask.all()
    layers = []
    forward(model, batch, layers.append)
    for row, example in enumerate(examples):
        with torch.inference_mode():
            inputs = collate([example], model.tokens, "cpu").inputs(model)
            own = torch.stack(
                [maps for maps in eager.eval()(**inputs, output_attentions=True).attentions if maps is not None]
            )
        n = len(example)
        ours = torch.stack([layer.weights[row, :, :n] for layer in layers])
        torch.testing.assert_close(ours[..., :n], own[:, 0], atol=1e-5, rtol=0)
        assert not ours[..., n:].any()
    return INSIDE if model.observable else RETURNED


@pytest.mark.parametrize(
    "model_type", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in ARCHITECTURES]
)
def test_maps_of_a_family_are_its_own(model_type, tmp_path, source):
    assert read(save(model_type, tmp_path), source) == ARCHITECTURES[model_type].way


def test_the_documentation_has_the_same_table():
    text = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
    rows = "\n".join(f"| {row.name} | {row.way} | {row.note} |" for row in ARCHITECTURES.values())
    assert f"| Family | Maps are | |\n| --- | --- | --- |\n{rows}" in text
