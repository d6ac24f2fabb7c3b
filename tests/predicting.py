"""Models that predict masked words, and the text that their analyses are tested on."""

from __future__ import annotations

from pathlib import Path

from bertviz_core.models import checkpoint, loading
from bertviz_core.settings import Settings
from tests import families

TEXT = """the old cat sat near the door , and the dog slept .
a river turns the wheels in the evening
the wind

their shutters
people walk and talk , the lamps are lit ; the dog sat near the fields and the mills for the newest town
home
"""
SETTINGS = Settings(max_length=24, seed=5)


def save(family: str, folder: Path, auto: str = "AutoModelForMaskedLM") -> Path:
    """A tiny model of a family with its masked-word head, as save_pretrained writes it."""
    return families.save(families.FAMILIES[family], folder, auto=auto)


def load(folder: Path, dtype: str = "float32") -> loading.AttentionModel:
    """The model with that head."""
    return loading.load(checkpoint.find(str(folder)), "cpu", dtype, masked_lm=True)
