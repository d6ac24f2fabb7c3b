"""A training of tiny random models: checkpoints of one shape and vocabulary, other weights at each step."""

from collections.abc import Sequence
from pathlib import Path

from tests import families

STEPS = (0, 10, 200)


def save(
    folder: Path,
    steps: Sequence[int] = STEPS,
    auto: str = "AutoModelForMaskedLM",
    family: families.Family = families.FAMILIES["bert"],
) -> Path:
    """Folders step-0000000, ... as a training run keeps them."""
    for step in steps:
        families.save(family, folder / f"step-{step:07d}", seed=step, auto=auto)
    return folder
