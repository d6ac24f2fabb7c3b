"""The paper's own model before its files are on this machine: enough is known to say what its analyses will take."""

from __future__ import annotations

from pathlib import Path

from bertviz_core.models.checkpoint import Checkpoint

NAME = "bert-base-uncased"
PARAMETERS = 110_000_000
MAX_LENGTH = 512  # tokens
CONFIG = {
    "model_type": "bert",
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "hidden_size": 768,
    "max_position_embeddings": MAX_LENGTH,
    "type_vocab_size": 2,
}


class PlannedModel(Checkpoint):
    """A checkpoint without files. Requests of it can be estimated and named, but not computed."""

    def fingerprint(self) -> str:
        """A name in place of a fingerprint: no result of this model is ever stored under it."""
        return f"not on this machine: {self.name}"

    def parameters(self) -> int:
        return PARAMETERS


def paper_model() -> PlannedModel:
    """BERT-base, as the hub has it."""
    return PlannedModel(NAME, Path(NAME), config=dict(CONFIG))
