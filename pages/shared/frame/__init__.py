"""The frame around every page."""

from collections.abc import Sequence

PANEL = "context"  # key of the panel in which the model, the corpora and the settings are chosen


def neighbor(label: str, options: Sequence[str], step: int = 1) -> str:
    """The option `step` after a head's label, wrapping around at both ends; the first where the label is no option."""
    return options[(options.index(label) + step) % len(options)] if label in options else options[0]
