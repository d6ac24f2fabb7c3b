"""Models that predict masked or next words, and the text that their analyses are tested on."""

from pathlib import Path
from typing import Any

from bertviz_core.corpora import Skipped
from bertviz_core.inputs.segments import Segments
from bertviz_core.models import checkpoint, loading
from bertviz_core.models.loss import targets_of, with_words
from bertviz_core.settings import Settings
from tests.support import families
from tests.support.families import DECODERS, FAMILIES

TEXT = """the old cat sat near the door , and the dog slept .
a river turns the wheels in the evening
the wind

their shutters
people walk and talk , the lamps are lit ; the dog sat near the fields and the mills for the newest town
home
"""
SETTINGS = Settings(max_length=24, seed=5)


def auto_class(family: str) -> str:
    """The class of transformers that has the head of a family."""
    return "AutoModelForCausalLM" if family in DECODERS else "AutoModelForMaskedLM"


def save(family: str, folder: Path, auto: str = "") -> Path:
    """A tiny model of a family with the head that predicts words, as save_pretrained writes it."""
    return families.save(FAMILIES[family], folder, auto=auto or auto_class(family))


def eager(family: str, folder: Path) -> Any:
    """The model as transformers loads it, with its own attention, in float64."""
    import transformers

    auto = getattr(transformers, auto_class(family))
    return auto.from_pretrained(folder, attn_implementation="eager", dtype="float64")


def labeled(model: loading.AttentionModel, segments: Segments) -> list[dict[str, list[int]]]:
    """The inputs of a model and what its loss asks for, in the corpus's order; types are zeros where it has none,
    `labels` -100 where a token is not asked for."""
    targets, inputs = targets_of(model.checkpoint, model.tokens, segments.settings.seed), []
    for example in with_words(segments, targets, Skipped()):
        ids, labels = targets.apply(example)
        arrays = (example.ids, ids, example.types if model.has_types else 0 * example.types, labels)
        names = ("original_ids", "input_ids", "token_type_ids", "labels")
        inputs.append({name: array.tolist() for name, array in zip(names, arrays, strict=True)})
    return inputs


def load(folder: Path, dtype: str = "float32") -> loading.AttentionModel:
    """The model with that head."""
    return loading.load(checkpoint.find_checkpoint(str(folder)), "cpu", dtype, language_model=True)
