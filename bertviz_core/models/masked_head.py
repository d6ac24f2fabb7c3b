"""Whether a checkpoint has a head that predicts masked words, read from its files without importing torch."""

from __future__ import annotations

from bertviz_core.errors import ModelError
from bertviz_core.models.checkpoint import Checkpoint

# How the names of the head's weights begin in each family.
HEADS = {
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
TRAINED_WITH_ONE = ("ForMaskedLM", "ForPreTraining")


def check_masked_head(checkpoint: Checkpoint) -> None:
    """Raises ModelError where the weights hold no such head; a family that is not known is asked for its class."""
    family = str(checkpoint.config.get("model_type"))
    if family in HEADS:
        if not any(name.startswith(HEADS[family]) for name in checkpoint.weights()):
            raise no_head(checkpoint, "none of its weights belong to one")
        return
    classes = checkpoint.config.get("architectures") or []
    if classes and not any(str(name).endswith(TRAINED_WITH_ONE) for name in classes):
        raise no_head(checkpoint, f"it was saved as {', '.join(map(str, classes))}")


def no_head(checkpoint: Checkpoint, why: str) -> ModelError:
    """transformers would draw such a head at random, and every gradient through it would mean nothing."""
    return ModelError(
        f"The model {checkpoint.name!r} has no masked-word head ({why}), so there is no loss to differentiate.",
        hint="Choose the checkpoint as it was pre-trained, such as bert-base-uncased, not one saved without its head.",
    )
