"""The tokens that a language model's loss is over: masked words, and what the model sees in their place, or next words
(methods, section 3); whether a checkpoint has a head that predicts them."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import numpy as np

from bertviz_core.errors import ModelError
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.models.encoding import Encoded
from bertviz_core.models.tokens import Tokens

SELECTED, MASKED, RANDOM = 0.15, 0.8, 0.1  # of the ordinary tokens; of the selected ones (the rest stay)
IGNORED = -100  # the label of a token that is not selected
# How the names of the head's weights begin in each family.
HEAD_WEIGHTS = {
    "albert": ("predictions.",),
    "bert": ("cls.predictions.",),
    "camembert": ("lm_head.",),
    "deberta": ("cls.predictions.", "lm_predictions."),
    "deberta-v2": ("cls.predictions.", "lm_predictions."),
    "distilbert": ("vocab_transform.", "vocab_projector."),
    "electra": ("generator_predictions.", "generator_lm_head."),
    "flaubert": ("pred_layer.",),
    "modernbert": ("head.",),
    "mpnet": ("lm_head.",),
    "roberta": ("lm_head.",),
    "xlm": ("pred_layer.",),
    "xlm-roberta": ("lm_head.",),
}
MASKED_WORDS = ("ForMaskedLM", "ForPreTraining")  # classes of models trained with such a head
NEXT_WORDS = ("ForCausalLM", "LMHeadModel")


class Labeled(NamedTuple):
    """An example as the model sees it; `labels` are the ids to predict at each token, or IGNORED.
    Both (token,) int64."""

    ids: np.ndarray
    labels: np.ndarray


@dataclass(frozen=True)
class Masking:
    """BERT's pre-training recipe, drawn for each example from (seed, its number), independent of batch and order.

    Attributes:
        mask: The id of the mask token.
        special: Ids that are never selected.
        ordinary: Ids to draw random tokens from.
    """

    mask: int
    special: np.ndarray
    ordinary: np.ndarray
    seed: int
    shift: ClassVar[int] = 0  # how many tokens after a label's position the word stands that it asks for

    @classmethod
    def of(cls, tokens: Tokens, seed: int) -> Self:
        """The masking for a tokenizer; raises ModelError where it has no mask token."""
        if tokens.mask is None:
            raise ModelError(
                "The model's tokenizer has no mask token, so there is no masked word to predict.",
                hint="Choose a model trained to predict masked words, such as BERT or RoBERTa.",
            )
        vocabulary = np.array(sorted(tokens.tokenizer.get_vocab().values()), dtype=np.int64)
        return cls(tokens.mask, tokens.special, np.setdiff1d(vocabulary, tokens.special), seed)

    def candidates(self, ids: np.ndarray) -> np.ndarray:
        """Positions of the tokens that are not special."""
        return np.flatnonzero(~np.isin(ids, self.special))

    def apply(self, example: Encoded) -> Labeled:
        """Select 15% of the tokens that are not special, at least one where there is any; 80% of those become the mask
        token, 10% a random token that is not special, 10% stay."""
        # A seed may be negative; numpy takes none that is.
        draw = np.random.default_rng([self.seed % 2**64, example.number])
        positions = self.candidates(example.ids)
        count = min(len(positions), max(1, round(SELECTED * len(positions))))
        selected = np.sort(draw.choice(positions, count, replace=False))
        fate = draw.random(count)
        random = draw.choice(self.ordinary, count)
        shown = np.where(fate < MASKED, self.mask, np.where(fate < MASKED + RANDOM, random, example.ids[selected]))
        ids, labels = example.ids.copy(), np.full_like(example.ids, IGNORED)
        ids[selected], labels[selected] = shown, example.ids[selected]
        return Labeled(ids, labels)


@dataclass(frozen=True)
class NextWords:
    """Every token but the first, each predicted from those before it."""

    shift: ClassVar[int] = 1

    def candidates(self, ids: np.ndarray) -> np.ndarray:
        """Positions of the tokens to predict."""
        return np.arange(1, len(ids))

    def apply(self, example: Encoded) -> Labeled:
        """The example unchanged, at each token the next one as its label."""
        return Labeled(example.ids, np.append(example.ids[1:], IGNORED))


Targets = Masking | NextWords


def targets_of(checkpoint: Checkpoint, tokens: Tokens, seed: int) -> Targets:
    """The targets of the model's loss; raises ModelError where words are to be masked and there is no mask token."""
    return NextWords() if predicts_next_words(checkpoint) else Masking.of(tokens, seed)


def predicts_next_words(checkpoint: Checkpoint) -> bool:
    """Whether the model was saved with a head that predicts the next word."""
    if checkpoint.config.get("model_type") in HEAD_WEIGHTS:
        return bool(checkpoint.config.get("is_decoder"))
    return any(str(name).endswith(NEXT_WORDS) for name in checkpoint.config.get("architectures") or [])


def check_head(checkpoint: Checkpoint) -> None:
    """Raises ModelError where the weights hold no head that predicts words; a family that is not known is asked for its
    class."""
    family = str(checkpoint.config.get("model_type"))
    if family in HEAD_WEIGHTS:
        if not any(name.startswith(HEAD_WEIGHTS[family]) for name in checkpoint.weights()):
            raise no_head(checkpoint, "none of its weights belong to one")
        return
    classes = checkpoint.config.get("architectures") or []
    if classes and not any(str(name).endswith((*MASKED_WORDS, *NEXT_WORDS)) for name in classes):
        raise no_head(checkpoint, f"it was saved as {', '.join(map(str, classes))}")


def no_head(checkpoint: Checkpoint, why: str) -> ModelError:
    """transformers would draw such a head at random, and every gradient through it would mean nothing."""
    return ModelError(
        f"The model {checkpoint.name!r} has no head that predicts masked or next words ({why}), so it has no loss.",
        hint="Choose the checkpoint as it was pre-trained, such as bert-base-uncased, not one saved without its head.",
    )
