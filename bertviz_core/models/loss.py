"""The loss of masked or next words, and its gradient in every layer's attention (docs/methods.md, section 3)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from bertviz_core.corpora import Skipped
from bertviz_core.errors import ModelError
from bertviz_core.inputs.encoding import Batch, Encoded, padded
from bertviz_core.inputs.tensors import at_least_float32
from bertviz_core.inputs.tokens import Tokens
from bertviz_core.models.attention import AttentionInternals
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.models.dispatched import check_gradients, reread_weights
from bertviz_core.models.layer_mask import leaves_visible
from bertviz_core.models.model import OTHER_FAMILY, AttentionModel, predicts_next_words, running, word_scores
from bertviz_core.models.surroundings import in_standard_arithmetic

SELECTED = 0.15  # share of the ordinary tokens that is selected
MASKED = 0.8  # share of the selected tokens that become the mask token
RANDOM = 0.1  # share of the selected tokens that become a random token; the rest stay
IGNORED = -100  # the label of tokens that are not selected
BATCH_TOKENS = 8_192  # the graph keeps every layer: fewer segments at once than a forward pass takes


@dataclass(frozen=True)
class Targets:
    """The words to predict (docs/methods.md, section 3).

    Masked words follow BERT's pre-training recipe, drawn for each example from (seed, its number), independent of batch
    and order; next words are all but the first.

    Attributes:
        tokens: The model's tokenizer.
        seed: The seed of the draw.
        shift: From the position of a label to that of its word: 1 for next words, 0 for masked ones.
    """

    tokens: Tokens
    seed: int
    shift: int = 0

    def candidates(self, ids: np.ndarray) -> np.ndarray:
        """Positions of those of (token,) ids that may be predicted; masked ones are not special."""
        return np.arange(1, len(ids)) if self.shift else np.flatnonzero(~np.isin(ids, self.tokens.special))

    def apply(self, example: Encoded) -> tuple[np.ndarray, np.ndarray]:
        """Draw the words to predict of an example (docs/methods.md, section 3, The draw).

        15% of the candidates, at least one, have a label; 80% of those become the mask token, 10% a random ordinary
        one. For next words, ids are unchanged and labels are the next ids.

        Returns:
            (ids, labels), each (token,) int64; IGNORED where a token has no label.
        """
        if self.shift:
            return example.ids, np.append(example.ids[1:], IGNORED)
        draw = np.random.default_rng([self.seed % 2**64, example.number])  # numpy takes no negative seed
        positions = self.candidates(example.ids)
        count = min(len(positions), max(1, round(SELECTED * len(positions))))
        selected = np.sort(draw.choice(positions, count, replace=False))
        share = draw.random(count)
        random = draw.choice(self.tokens.ordinary, count)
        ids = example.ids.copy()
        labels = np.full_like(ids, IGNORED)
        labels[selected] = ids[selected]
        masks = np.full(count, self.tokens.mask)
        ids[selected] = np.select([share < MASKED, share < MASKED + RANDOM], [masks, random], ids[selected])
        return ids, labels


def targets_of(checkpoint: Checkpoint, tokens: Tokens, seed: int) -> Targets:
    """The targets of the model's loss; raises ModelError where words are to be masked and there is no mask token."""
    if predicts_next_words(checkpoint):
        return Targets(tokens, seed, shift=1)
    if tokens.mask is None:
        what = "The model's tokenizer has no mask token, so there is no masked word to predict."
        raise ModelError(what, hint="Choose a model trained to predict masked words, such as BERT or RoBERTa.")
    return Targets(tokens, seed)


def with_words(segments: Iterable[Encoded], targets: Targets, skipped: Skipped) -> Iterable[Encoded]:
    """The segments that have a token to predict; the others are left out and counted."""
    for example in segments:
        if len(targets.candidates(example.ids)):
            yield example
        else:
            skipped.add("a passage of special tokens only, with nothing to predict", example.where)


@dataclass(frozen=True)
class Labels:
    """The tokens of a batch that are predicted, by row, then by position; their places are known without asking the
    device.

    Attributes:
        rows: (selected token,) int64 rows of the batch.
        positions: (selected token,) int64 positions in these.
        ids: (selected token,) int64 the words to predict.
        counts: (batch,) int64 number of selected tokens in each row.
    """

    rows: Tensor
    positions: Tensor
    ids: Tensor
    counts: Tensor

    def repeat(self, times: int) -> Self:
        """The labels of a batch that is repeated."""
        starts = torch.arange(times, device=self.rows.device)[:, None] * len(self.counts)
        others = (each.repeat(times) for each in (self.positions, self.ids, self.counts))
        return type(self)((starts + self.rows).flatten(), *others)


@dataclass(frozen=True)
class Predictions:
    """Predictions of masked or next words.

    Attributes:
        loss: (batch,) the mean cross-entropy over a segment's selected tokens, nats.
        right: (batch,) number of those tokens that the model predicts.
        selected: (batch,) number of those tokens.
        word_loss: (selected token,) cross-entropy, nats.
        guess: (selected token,) likeliest token.
    """

    loss: Tensor
    right: Tensor
    selected: Tensor
    word_loss: Tensor
    guess: Tensor


@dataclass(frozen=True)
class LayerGradient:
    """Weights and gradients of one layer for one batch; readers must mask those of padding keys and queries.

    Attributes:
        layer: The layer, from 0.
        weights: (batch, head, query, key) float32 attention weights.
        gradient: (batch, head, query, key) gradient of each segment's own loss, with its sign, in that segment's
            softmaxed weights; nats for a unit of attention.
        predictions: What the whole model predicts.
        visible: (batch, 1 or head, query, key) bool, whether the query may see the key.
    """

    layer: int
    weights: Tensor
    gradient: Tensor
    predictions: Predictions
    visible: Tensor


@in_standard_arithmetic
def backward(
    model: AttentionModel, batch: Batch, *observers: Callable[[LayerGradient], None], targets: Targets
) -> None:
    """Run a model forward and back (docs/methods.md, section 3).

    The sum of segments' mean losses is differentiated, so that it does not matter which segments share a batch.

    Args:
        model: A model with the head that predicts words.
        observers: Each gets every layer once, the last first.

    Raises:
        ModelError: The gradient does not reach every layer, or is not right.
    """
    layers, maps = 0, _MapsInGraph(model)

    def show(layer: int, values: list[Tensor], gradient: Tensor) -> None:
        nonlocal layers
        layers += 1
        layer_gradient = LayerGradient(
            layer=layer,
            weights=at_least_float32(values.pop()).to(model.device),
            gradient=at_least_float32(gradient).to(model.device),
            predictions=predictions,
            visible=maps.visible[layer].to(model.device),
        )
        for observe in observers:
            observe(layer_gradient)

    shown, labels = mask_and_label(batch, targets)
    options: dict[str, Any] = {"observer": maps.observe} if model.observable else {"output_attentions": True}
    check_gradients(model.language_model, model.device)
    start = model.encoder.get_input_embeddings().register_forward_hook(maps.begin)
    with torch.enable_grad(), start, reread_weights(model.language_model):
        total, predictions, output = predict_words(model, shown, labels, **options)
        if not model.observable:
            maps.read(output.attentions)
        del output
        maps.differentiate(total, show)
    if layers != model.layers:
        raise _without_gradient(layers, model)


class _MapsInGraph:
    """The attention maps of one forward pass, until its loss is differentiated in them.

    Attributes:
        weights: The map of each layer, in the graph.
        visible: What its queries may see, as in LayerGradient.
    """

    def __init__(self, model: AttentionModel) -> None:
        self._model = model
        self.weights = list[Tensor]()
        self.visible = list[Tensor]()

    def begin(self, _module: Any, _inputs: Any, embedded: Any) -> Tensor:
        """The embeddings as the beginning of the graph, as no parameter requires a gradient."""
        if not isinstance(embedded, torch.Tensor):  # I-BERT's embeddings are numbers and their scale.
            raise _without_gradient(0, self._model)
        return embedded.requires_grad_().clone()  # CTRL scales its embeddings in place.

    def observe(self, scores: AttentionInternals) -> None:
        """Add the map of the next layer."""
        self.weights.append(scores.weights)
        self.visible.append(_visible(scores))

    def read(self, attentions: Iterable[Tensor]) -> None:
        """Add the maps of a model that cannot be observed: its masks are not known, and a weight of 0 is masked."""
        self.weights += attentions
        self.visible += [weights.detach() > 0 for weights in self.weights]

    def differentiate(self, total: Tensor, show: Callable[[int, list[Tensor], Tensor], None]) -> None:
        """Call `show(layer, [weights], gradient)` for each layer, the last first, which takes the weights out."""
        reached = sum(weights.requires_grad for weights in self.weights)
        if reached < len(self.weights):  # HRM computes all but its last steps without a graph.
            raise _without_gradient(reached, self._model)
        first = self.weights[0]
        while self.weights:  # From here on the graph alone owns the maps, and frees each with its hook.
            weights = self.weights.pop()
            # A hook has the map's values until they are shown; the map itself would be a cycle.
            weights.register_hook(partial(show, len(self.weights), [weights.detach()]))
        # The pass back goes no further down than the maps of the first layer.
        torch.autograd.grad(total, first, allow_unused=True)


def _visible(scores: AttentionInternals) -> Tensor:
    """(batch, 1 or head, query, key) bool: whether the mask leaves the key to the query, however small its weight."""
    if scores.mask is None:
        return torch.ones_like(scores.weights[:, :1], dtype=torch.bool)
    return leaves_visible(scores.mask)


def _without_gradient(layers: int, model: AttentionModel) -> ModelError:
    """The error for a loss that has a gradient in so many layers, not in all."""
    what = f"The loss has a gradient in only {layers} of the {model.layers} layers' attention maps"
    return ModelError(f"{what}, as this family of models shows them.", hint=OTHER_FAMILY)


def mask_and_label(batch: Batch, targets: Targets) -> tuple[Batch, Labels]:
    """The batch with its masks, and its labels; token classes stay those of the original tokens."""
    ids, labels = zip(*map(targets.apply, batch.examples), strict=True)
    by_row = padded(labels, IGNORED)
    rows, positions = np.nonzero(by_row != IGNORED)
    arrays = (padded(ids, targets.tokens.pad), rows, positions, by_row[rows, positions], (by_row != IGNORED).sum(1))
    masked, *places = (torch.from_numpy(array).to(batch.ids.device) for array in arrays)
    return replace(batch, ids=masked), Labels(*places)


def predict_words(
    model: AttentionModel, batch: Batch, labels: Labels, **options: Any
) -> tuple[Tensor, Predictions, Any]:
    """Run a model on a batch with labels; only labeled positions reach the (large) vocabulary layer.

    Args:
        model: A model with the head that predicts words.
        batch: The inputs, with their masks.
        options: Further arguments of the model.

    Returns:
        The sum of the segments' losses, in the graph; the predictions, out of it; and the output of the model.
    """
    at = (labels.rows, labels.positions)

    def select(_module: Any, _inputs: Any, output: Any) -> Any:
        output.last_hidden_state = output.last_hidden_state[at][None]  # (1, selected token, width)
        return output

    with model.encoder.register_forward_hook(select), running(model, batch.ids):
        output = model.language_model(**model.inputs(batch), **options)
    scores = word_scores(output)
    is_whole = scores.shape[:2] == batch.ids.shape  # some decoders, such as OPT, call no hook
    logits = at_least_float32(scores[at] if is_whole else scores[0])
    losses = torch.nn.functional.cross_entropy(logits, labels.ids, reduction="none")
    guess = logits.argmax(-1)
    counts = labels.counts
    right = counts.new_zeros(len(counts)).index_add(0, labels.rows, (guess == labels.ids).long())
    loss = losses.new_zeros(len(counts)).index_add(0, labels.rows, losses) / counts
    return (
        loss.sum(),
        Predictions(loss=loss.detach(), right=right, selected=counts, word_loss=losses.detach(), guess=guess),
        output,
    )
