"""What a decoder expects after a token of an input, and what adds up to the logit of one of these tokens
(docs/methods.md, section 20)."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bertviz_core.inputs.encoding import collate
from bertviz_core.inputs.labels import token_labels
from bertviz_core.inputs.tensors import Tensor
from bertviz_core.models.model import AttentionModel, running
from bertviz_core.models.single_input import TOP, OneInput, token_shares
from bertviz_core.models.surroundings import in_standard_arithmetic


class ExpectedToken(NamedTuple):
    """A token that may come next.

    Attributes:
        token: Its number in the vocabulary.
        probability: That of the model, 0 to 1.
        is_next: Whether it does come next in the input.
    """

    token: int
    label: str
    probability: float
    is_next: bool


@dataclass(frozen=True)
class LogitSplit:
    """What adds up to the logit of a token above the mean of the vocabulary's, nats.

    Attributes:
        heads: (layer, head) what each head adds.
        mlps: (layer,) what each MLP adds.
        embeddings: What the input of the first layer adds.
        biases: Those of attention, of the last norm and of the unembedding.
        logit: The logit above the mean, of which these are the parts.
        cap: The size beyond which the model caps logits afterwards; None where it does not.
    """

    heads: np.ndarray
    mlps: np.ndarray
    embeddings: float
    biases: float
    logit: float
    cap: float | None


def expects_next_words(model: AttentionModel) -> bool:
    """Whether a model is a decoder that was loaded with the head that predicts the next word."""
    return model.causal and model.language_model is not None


def expected_tokens(model: AttentionModel, single: OneInput, position: int) -> tuple[ExpectedToken, ...]:
    """The TOP likeliest tokens after the one at a position, from 0, the likeliest first; then the one that does come
    next, where it is none of them."""
    shares = token_shares(model, single.example, [position])[0]
    following = single.example.ids[position + 1 : position + 2].tolist()
    listed = list(dict.fromkeys([*np.argsort(-shares, kind="stable")[:TOP].tolist(), *following]))
    labels = token_labels(np.array(listed), model.tokens)
    return tuple(
        ExpectedToken(token, label, float(shares[token]), token in following)
        for token, label in zip(listed, labels, strict=True)
    )


def probability_without(
    model: AttentionModel, single: OneInput, position: int, token: int, ablated: np.ndarray
) -> float:
    """The probability of a token after a position, from 0, while the outputs of heads, (layer, head) bool, are replaced
    by zeros."""
    return float(token_shares(model, single.example, [position], ablated)[0, token])


@in_standard_arithmetic
def split_logit(model: AttentionModel, single: OneInput, position: int, token: int) -> LogitSplit:
    """What adds up to the logit of a token after the one at a position, from 0.

    Raises:
        ModelError: The logits of this model are no such sum.
    """
    import torch

    from bertviz_core.models.residual_modules import with_residual

    residual = with_residual(model).residual
    assert residual is not None, "it has been found"
    batch = collate([single.example], model.tokens, model.device)

    def only(number: int) -> Tensor:
        return torch.tensor([number], device=model.device)

    with torch.inference_mode(), residual.recorded(mlps=True) as written, running(model, batch.ids):
        model.encoder(**model.inputs(batch))
        parts = residual.parts(written, (only(0), only(position)), only(token))
    return LogitSplit(
        heads=parts.heads[:, 0].cpu().numpy(),
        mlps=parts.mlps[:, 0].cpu().numpy(),
        embeddings=float(parts.embeddings[0]),
        biases=float(parts.biases[0]),
        logit=float(parts.logits[0]),
        cap=residual.cap,
    )
