"""A model that can be observed, and what its checkpoint allows: a loss, and norms (docs/methods.md, section 11)."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bertviz_core.errors import BertvizError, ModelError
from bertviz_core.inputs.encoding import Batch
from bertviz_core.inputs.tensors import Tensor
from bertviz_core.inputs.tokens import Tokens
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.models.dispatched import read_weight
from bertviz_core.models.families import LAYER_NAMES, WEIGHT_NAMES
from bertviz_core.settings import Weights

if TYPE_CHECKING:
    from bertviz_core.models.residual import ResidualStream

PACKAGE = Path(__file__).parents[1]
# Endings of the names of classes with a head that predicts words. Two that predict masked words end as those of next
# words do.
MASKED_WORDS = ("ForMaskedLM", "ForPreTraining", "XLMWithLMHeadModel", "FlaubertWithLMHeadModel")
NEXT_WORDS = ("ForCausalLM", "LMHeadModel")
LM_HEAD_CLASSES = (*MASKED_WORDS, *NEXT_WORDS)
OTHER_FAMILY = "Choose a model of another family, such as BERT, RoBERTa, DistilBERT, ELECTRA or ALBERT."
OF_WEIGHTS = f"Choose a model of one of these families: {', '.join(WEIGHT_NAMES)}."
DISCRIMINATORS = ("ElectraForPreTraining", "FunnelForPreTraining")  # predict which words were replaced


@dataclass
class AttentionModel:
    """An encoder or decoder with per-head attention, in evaluation mode, its parameters frozen.

    Attributes:
        encoder: The model of transformers, without the head that predicts words.
        tokens: Its tokenizer.
        has_types: Whether it takes token types.
        observable: Whether it calls the registered attention function; else it returns its maps.
        causal: Whether a token attends only to itself and to earlier ones.
        language_model: `encoder` with the head that predicts words; None where it was loaded without.
        factors: For each layer (head, width, width) what the lengths of vectors follow from, for norms; None where
            weights are observed.
        residual: The residual stream of a decoder, see `residual_modules.py`; None where nothing reads it.
        length_limit: The number of tokens past which an input's maps depend on the longest input of its batch; None
            without.
        notices: What of its files is not used and changes no map.
    """

    checkpoint: Checkpoint
    encoder: Any
    tokens: Tokens
    device: str
    layers: int
    heads: int
    has_types: bool
    observable: bool = True
    causal: bool = False
    language_model: Any = None
    factors: tuple[Tensor, ...] | None = None
    residual: "ResidualStream | None" = None
    length_limit: int | None = None
    notices: tuple[str, ...] = ()

    @property
    def batch_tokens(self) -> int:
        """The most tokens of a batch, by the device."""
        return 512 if self.device == "cpu" else 32_768  # The caches of a CPU overflow past 512.

    def inputs(self, batch: Batch) -> dict[str, Any]:
        """Keyword arguments for the encoder."""
        inputs = {"input_ids": batch.ids, "attention_mask": batch.mask.long()}
        return inputs | ({"token_type_ids": batch.types} if self.has_types else {})


@contextmanager
def running(model: AttentionModel, inputs: Tensor) -> Iterator[None]:
    """Turn what the model's code raises for `inputs`, (batch, token) ids, into a ModelError.

    Errors of observers and hooks, which are the project's, and a lack of memory, which smaller batches mend, pass.
    """
    try:
        yield
    except BertvizError:
        raise
    except Exception as error:
        if _is_out_of_memory(error) or not _of_the_model(error):
            raise
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:150]
        what = f"The model {model.checkpoint.name!r} cannot read inputs of {inputs.shape[1]:,} tokens ({reason})."
        hint = "Choose a smaller maximum length; if that does not help, a model of another family."
        raise ModelError(what, hint=hint) from error


def _is_out_of_memory(error: Exception) -> bool:
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError)
        and (type(error).__name__ == "OutOfMemoryError" or "can't allocate memory" in str(error))
    )


def _of_the_model(error: Exception) -> bool:
    """Whether an error comes from a model's code that does not call the project's again: by the files of its frames."""
    files = [Path(frame.f_code.co_filename) for frame, _ in traceback.walk_tb(error.__traceback__)]
    inside = [path.is_relative_to(PACKAGE) for path in files]
    return False in inside and True not in inside[inside.index(False) :]


def predicts_next_words(checkpoint: Checkpoint) -> bool:
    """Whether the model was saved with a head that predicts the next word."""
    return any(name.endswith(NEXT_WORDS) and not name.endswith(MASKED_WORDS) for name in classes(checkpoint))


def require_lm_head(checkpoint: Checkpoint) -> None:
    """Raises ModelError where the model was saved without a head that predicts words."""
    saved = classes(checkpoint)
    if saved and not any(name.endswith(LM_HEAD_CLASSES) and name not in DISCRIMINATORS for name in saved):
        raise missing_lm_head(checkpoint, f"it was saved as {', '.join(saved)}")


def require_next_words(checkpoint: Checkpoint) -> None:
    """Raises ModelError where the model was not saved with a head that predicts the next word."""
    if not predicts_next_words(checkpoint):
        what = f"The model {checkpoint.name!r} was not saved with a head that predicts the next word."
        raise ModelError(what, hint="Choose a decoder, such as demo-decoder.")


def classes(checkpoint: Checkpoint) -> list[str]:
    """The classes that a model was saved as."""
    return [str(name) for name in checkpoint.config.get("architectures") or []]


def missing_lm_head(checkpoint: Checkpoint, why: str) -> ModelError:
    """The error for a head that is missing: transformers would initialize it at random."""
    what = f"The model {checkpoint.name!r} has no head that predicts masked or next words ({why}), so it has no loss."
    hint = "Choose the checkpoint as it was pre-trained, such as bert-base-uncased, not one saved without its head."
    return ModelError(what, hint=hint)


def word_scores(output: Any) -> Tensor:
    """(batch, token, word of the vocabulary) what a head that predicts words gives; BERT's own as it was pre-trained,
    with a second head beside it, has another name for it."""
    return output.logits if "logits" in output else output.prediction_logits


def check_norms(checkpoint: Checkpoint, weights: Weights) -> None:
    """Raises ModelError where norms are asked for and the family's output projection is not known."""
    family = checkpoint.config.get("model_type")
    if weights == "norms" and family not in LAYER_NAMES:
        what = f"Norms are not known for models of the family {str(family)!r}, such as {checkpoint.name!r}."
        hint = f"Choose attention weights, or a model of one of these families: {', '.join(LAYER_NAMES)}."
        raise ModelError(what, hint=hint)


def check_family(checkpoint: Checkpoint) -> None:
    """Raises ModelError where it is not known where a family has the matrices of its heads."""
    family = checkpoint.config.get("model_type")
    if family not in WEIGHT_NAMES:
        raise ModelError(
            f"The matrices of heads are not known for models of the family {str(family)!r}.", hint=OF_WEIGHTS
        )


def with_weights(model: AttentionModel, weights: Weights) -> AttentionModel:
    """A model that is observed through attention weights or through norms; raises ModelError as `check_norms` does, and
    where norms are asked for and maps are not read inside the layers."""
    check_norms(model.checkpoint, weights)
    if weights == "norms" and not model.observable:
        what = (
            f"Norms are not known for {model.checkpoint.name!r}: its maps are read as it returns them, without values."
        )
        raise ModelError(what, hint="Choose attention weights.")
    return replace(model, factors=_output_factors(model) if weights == "norms" else None)


def _output_factors(model: AttentionModel) -> tuple[Tensor, ...]:
    """R^T of every layer, (head, width, width): Q R is the transpose of W_O^h, so |v W_O^h| = |v R^T| for any v."""
    import torch

    names = LAYER_NAMES[model.encoder.config.model_type]
    factors = []
    for layer in range(model.layers):
        module = model.encoder.get_submodule(f"{names.stack}.{layer}.{names.output}")
        matrix = linear_matrix(module, model)
        if matrix is None:
            what = f"Norms are not known for {model.checkpoint.name!r}: its output projection is no linear layer"
            raise ModelError(f"{what} ({type(module).__name__}).", hint="Choose attention weights.")
        weight = matrix.float().cpu()  # (hidden, head and width)
        by_head = weight.unflatten(1, (model.heads, -1)).movedim(1, 0)  # (head, hidden, width)
        factors.append(torch.linalg.qr(by_head, mode="r").R.mT.contiguous().to(model.device))
    return tuple(factors)


def linear_matrix(module: Any, model: AttentionModel) -> Tensor | None:
    """(output, input) what a linear layer multiplies by; with adapters in place, with hooks, or quantized, as it
    computes. None where it is not linear."""
    import torch
    from transformers.pytorch_utils import Conv1D  # GPT-2's kind of linear layer

    from bertviz_core.models.torch_internals import computes_as_its_class

    if computes_as_its_class(module) and type(module) in (torch.nn.Linear, Conv1D):
        weight = read_weight(module, "weight").to(model.device)
        return weight.T if type(module) is Conv1D else weight
    size = getattr(module, "in_features", model.encoder.config.hidden_size)
    identity = torch.eye(size, device=model.device, dtype=model.encoder.dtype)
    tried = torch.randn(8, size, generator=torch.Generator().manual_seed(0)).to(identity)
    with torch.inference_mode():
        bias, matrix, expected = (
            module(each).to(model.device) for each in (torch.zeros_like(identity[:1]), identity, tried)
        )
        matrix = matrix - bias
        gap = (tried @ matrix + bias - expected).abs().max() / expected.abs().max()
    return matrix.T.clone() if gap <= (1e-4 if identity.dtype.itemsize > 2 else 0.05) else None


def norm_logits(logits: Tensor, norms: Tensor) -> Tensor:
    """Scores (batch, head, query, key) whose softmax is N[i, j] = A[i, j] |f(x_j)| / sum_k A[i, k] |f(x_k)|: the logits
    of A plus log |f(x_j)|, from `norms` (batch, head, key). A masked score, the lowest number of its type, stays."""
    import torch

    return logits + norms.clamp(min=torch.finfo(norms.dtype).tiny).log()[:, :, None]
