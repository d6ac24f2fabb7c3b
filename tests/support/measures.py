"""What the tests of the measures share: random corpora fed in every way, and published maps fed as they are."""

import json
import lzma
from pathlib import Path

import numpy as np
import torch

from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.run.compute import compute
from bertviz_core.inputs.encoding import Batch, collate
from bertviz_core.inputs.segments import Segments
from bertviz_core.models.attention import LayerAttention
from bertviz_core.settings import Execution
from tests.oracles import reference
from tests.support import maps

PUBLISHED = Path(__file__).parents[3] / "shared" / "data" / "models" / "attention_maps"


def check_one_batch(measure, oracle, quantities, kinds_list, *, causal=False, pad=0, full=True, scale=3.0):
    """Every value of every example and head equals the oracle's to 1e-5."""
    examples = [maps.encode(number, kinds) for number, kinds in enumerate(kinds_list)]
    logits = [maps.scores(number, len(kinds), scale=scale) for number, kinds in enumerate(kinds_list)]
    batch, attention = maps.show(examples, logits, causal=causal, pad=pad, full=full)
    values = measure(batch, attention)
    for row, kinds in enumerate(kinds_list):
        literal = maps.literal(logits[row], causal)[0].tolist()
        for head, rows in enumerate(literal):
            expected = oracle(rows, kinds)
            found = values[row, head].tolist()
            np.testing.assert_allclose(found, [expected[name] for name in quantities], atol=1e-5, rtol=0)


def published() -> list:
    """(file's name, its content) of the published maps, none where they are not at hand."""
    return sorted(PUBLISHED.glob("*.json.xz"))


def check_published(path, measure, oracle, quantities):
    """The measure on a published model's maps, fed as one layer after the other, equals the oracle's."""
    record = json.loads(lzma.decompress(path.read_bytes()))
    weights = torch.tensor(record["attention"], dtype=torch.float32)
    kinds = next(
        found
        for cls, sep in (("[CLS]", "[SEP]"), ("<s>", "</s>"), ("<cls>", "<sep>"), (None, None))
        if "sep" in (found := reference.kinds_of(record["tokens"], cls, sep)) or sep is None
    )
    causal = record["model"] == "gpt2"
    batch = collate([maps.encode(0, kinds)], maps.TOKENS, "cpu")
    for layer, layer_maps in enumerate(weights):
        values = measure(batch, LayerAttention(layer, layer_maps[None], None, causal))[0]
        for head, rows in enumerate(layer_maps.tolist()):
            expected = oracle(rows, kinds, causal)
            np.testing.assert_allclose(values[head].tolist(), [expected[name] for name in quantities], atol=1e-5)


def check_on_model(analysis, model, text, settings, oracle, quantities):
    """Every quantity equals the oracle's in batches of any size; gives the last result and (maps, kinds) of each
    segment."""
    segments = model_segments(model, text, settings)
    for batch_tokens in (1, 40, 10_000):
        request = Request(analysis, model.checkpoint, text, settings)
        result = compute(request, None, Execution("cpu", batch_tokens), model=model)
        for name in quantities:
            np.testing.assert_allclose(result[name], reference.corpus(oracle, segments, name), atol=1e-5, rtol=0)
    return result, segments


def model_segments(model, source, settings) -> list:
    """(maps, kinds) of a BERT's segments: the library's own eager maps, one segment at a time, unpadded."""
    from transformers import AutoModel

    eager = AutoModel.from_pretrained(model.checkpoint.folder, attn_implementation="eager", dtype="float32").eval()
    found = []
    for example in Segments(source, model.tokens, settings):
        batch: Batch = collate([example], model.tokens, "cpu")
        with torch.inference_mode():
            seen = torch.cat(eager(**model.inputs(batch), output_attentions=True).attentions)
        found.append((seen.tolist(), reference.kinds_of(model.tokens.names(example.ids), "[CLS]", "[SEP]")))
    return found
