"""The one pass (surface patterns and entropy together, and with reach) against the authors' way, on the same segments
and model.

The model has BERT-base's shape (12 layers, 12 heads, 768 wide, 30,522 wordpieces) and random weights: the time does not
depend on them.
"""

from __future__ import annotations

import argparse
import pickle
import tempfile
from dataclasses import replace
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.harness import Work, alternate, ratio, table
from bertviz_core.analyses.base.accumulators import SegmentSums
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.entropy import measure as entropy
from bertviz_core.analyses.reach import measure as reach
from bertviz_core.analyses.surface_patterns import measure as surface_patterns
from bertviz_core.corpora.files import sample
from bertviz_core.engine import forward_pass
from bertviz_core.engine.progress import Progress
from bertviz_core.inputs.encoding import Encoded
from bertviz_core.inputs.segments import Segments
from bertviz_core.inputs.tokens import Tokens
from bertviz_core.models.attention import register
from bertviz_core.models.checkpoint import find_checkpoint
from bertviz_core.models.loading import load_tokens, prepare
from bertviz_core.models.model import with_weights
from bertviz_core.settings import Settings, Weights

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import BertModel

MAX_LENGTH = 128
RELEASE_BATCH = 16
REQUIRED = 2.3  # times less CPU time
# The release's names for the quantities, where they differ from ours.
RELEASE_NAMES = {
    "self": "current",
    "left": "previous",
    "right": "next",
    "cls": "to_cls",
    "sep": "to_sep",
    "punct": "to_punct",
    "sep_sep": "sep_to_sep",
    "rest_sep": "other_to_sep",
}


def one_pass(count: int, weights: Weights = "attention", with_reach: bool = False) -> Work:
    """Our side: maps reduced inside the layer, nothing kept."""
    tokens = load_tokens(find_checkpoint("demo"))
    segments = segments_of(tokens, count)
    model = with_weights(prepare(bert(tokens, register()), tokens, find_checkpoint("demo")), weights)

    def work() -> dict[str, np.ndarray]:
        shape = (model.layers, model.heads, model.device)
        sums = [SegmentSums(part.QUANTITIES, part.measure, *shape) for part in (surface_patterns, entropy)]
        if with_reach:
            request = Request("reach", find_checkpoint("demo"), sample("encyclopedia"), Settings())
            sums.append(reach.accumulator(model, request))
        forward_pass.run(model, segments, sums, Progress())
        found = [part.result() for part in sums]
        return {name: mean for part in found for name, mean in zip(part["quantities"], part["mean"], strict=True)}

    return work


def forward_alone(count: int) -> Work:
    """The same forward passes with nobody looking: what the statistics add is the rest."""
    tokens = load_tokens(find_checkpoint("demo"))
    model = prepare(bert(tokens, register()), tokens, find_checkpoint("demo"))
    segments = segments_of(tokens, count)
    return lambda: forward_pass.run(model, segments, [], Progress())


def release(count: int, by_index: bool = False) -> Work:
    """The authors' side: extract_attention, then the notebook's two loops over what it wrote.

    extract_attention looks words up by a product of one-hot rows with the whole vocabulary (its model is built with
    use_one_hot_embeddings=True). by_index: embeddings looked up by index.
    """
    tokens = load_tokens(find_checkpoint("demo"))
    segments = segments_of(tokens, count)
    encoder = bert(tokens, "eager").eval().requires_grad_(False)
    if not by_index:
        encoder.embeddings.word_embeddings.forward = partial(_one_hot, encoder.embeddings.word_embeddings.weight)

    def work() -> dict[str, np.ndarray]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "attn.pkl"
            extract(encoder, tokens, segments, path)
            return notebook(read(path))

    return work


def extract(encoder: BertModel, tokens: Tokens, examples: list[Encoded], path: Path) -> None:
    """Maps of every example, in file order, in batches padded to the maximum length, as float16, in one pickle."""
    import torch

    kept: list[dict[str, Any]] = []
    for start in range(0, len(examples), RELEASE_BATCH):
        batch = examples[start : start + RELEASE_BATCH]
        ids = np.stack([np.pad(example.ids, (0, MAX_LENGTH - len(example))) for example in batch])
        mask = np.stack([np.arange(MAX_LENGTH) < len(example) for example in batch])
        with torch.inference_mode():
            output = encoder(
                input_ids=torch.from_numpy(ids).to(encoder.device),
                attention_mask=torch.from_numpy(mask).long().to(encoder.device),
                token_type_ids=torch.zeros(ids.shape, dtype=torch.int64, device=encoder.device),
                output_attentions=True,
            )
        maps = torch.stack(output.attentions, 1).cpu().numpy()  # (batch, layer, head, query, key)
        for example, attention in zip(batch, maps, strict=True):
            n = len(example)
            kept.append({"tokens": tokens.names(example.ids), "attns": attention[:, :, :n, :n].astype(np.float16)})
    with path.open("wb") as stream:
        pickle.dump(kept, stream, -1)


def read(path: Path) -> list[dict[str, Any]]:
    """What `extract` wrote a moment ago: the release keeps its maps in a pickle."""
    with path.open("rb") as stream:
        return pickle.load(stream)


def _one_hot(table: Tensor, ids: Tensor) -> Tensor:
    """(batch, token, width) from ids (batch, token) and a table (word, width)."""
    import torch

    return torch.nn.functional.one_hot(ids, len(table)).to(table.dtype) @ table


def notebook(documents: list[dict[str, Any]]) -> dict[str, np.ndarray]:
    """Average attention to positions and tokens (one selector matrix for each kind), then smoothed entropies."""
    heads = documents[0]["attns"].shape[:2]
    totals: dict[str, np.ndarray] = {name: np.zeros(heads) for name in RELEASE_NAMES}
    for document in documents:
        maps = np.array(document["attns"])
        for name, (selector, rows) in _selectors(document["tokens"]).items():
            totals[name] += (maps * selector[np.newaxis, np.newaxis]).sum(-1).sum(-1) / (len(documents) * rows)
    entropies, of_cls = np.zeros(heads), np.zeros(heads)
    for document in documents:
        maps = np.array(document["attns"])
        maps = 0.9999 * maps + 0.0001 / maps.shape[-1]
        entropies -= (maps * np.log(maps)).sum(-1).mean(-1)
        of_cls -= (maps * np.log(maps))[:, :, 0].sum(-1)
    averages = {RELEASE_NAMES[name]: total for name, total in totals.items()}
    return averages | {"entropy": entropies / len(documents), "from_cls": of_cls / len(documents)}


def _selectors(names: list[str]) -> dict[str, tuple[np.ndarray, int]]:
    """The (query, key) cells of each kind, and the number of rows that their sum is divided by."""
    n = len(names)
    cls, sep, punctuation = (
        np.array([float(name in kind) for name in names]) for kind in (("[CLS]",), ("[SEP]",), (".", ","))
    )
    return {
        "self": (np.eye(n), n),
        "right": (np.eye(n, n, 1), n),
        "left": (np.eye(n, n, -1), n),
        "sep": (np.tile(sep, (n, 1)), n),
        "sep_sep": (np.outer(sep, sep), 2),
        "rest_sep": (np.outer(1 - sep, sep), n - 2),
        "cls": (np.tile(cls, (n, 1)), n),
        "punct": (np.tile(punctuation, (n, 1)), n),
    }


def bert(tokens: Tokens, attention: str, layers: int = 12) -> BertModel:
    """BERT-base's shape is BertConfig's default, the vocabulary too: the demo model's ids are some of its."""
    import torch
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    config = BertConfig(attn_implementation=attention, num_hidden_layers=layers)
    assert len(tokens.tokenizer) <= config.vocab_size
    return BertModel(config, add_pooling_layer=False)


def segments_of(tokens: Tokens, count: int) -> list[Encoded]:
    """The sample's segments as the release makes them (all token types zero), over again where it has too few."""
    segments = Segments(sample("encyclopedia"), tokens, Settings(MAX_LENGTH, mode="paper"))
    return [replace(segment, number=number) for number, segment in enumerate(islice(cycle(segments), count))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--segments", type=int, default=48)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    few, many = options.segments, 4 * options.segments
    sides = {
        f"the release's way, {few} segments": (release, (few,)),
        "the same, words by index": (release, (few, True)),
        f"one pass, {few} segments": (one_pass, (few,)),
        "its forward passes alone": (forward_alone, (few,)),
        f"one pass with reach, {few} segments": (one_pass, (few, "attention", True)),
        f"one pass, {many} segments": (one_pass, (many,)),
    }
    costs = alternate(sides, options.repeats)
    theirs, by_index, ours, bare, reaching, longer = costs.values()
    print(table(costs))
    print(f"CPU time: {ratio(theirs, ours, 'cpu'):.2f} times less (required: {REQUIRED}), ", end="")
    print(f"{ratio(by_index, ours, 'cpu'):.2f} if the release took words by index")
    print(f"statistics: {100 * (ratio(ours, bare, 'cpu') - 1):.1f}% of the forward passes")
    print(f"reach: {100 * (ratio(reaching, ours, 'cpu') - 1):.1f}% of the pass that it shares")
    print(f"peak memory: {ratio(theirs, ours, 'peak'):.2f} times less; ", end="")
    print(f"with four times the segments {ratio(longer, ours, 'peak'):.3f} of itself")
    for name, mean in theirs[0].answer.items():
        print(f"{name:>12}: the two ways differ by at most {np.abs(mean - ours[0].answer[name]).max():.1e}")


if __name__ == "__main__":
    main()
