"""Analyses of attention heads after "What Does BERT Look At?", on your own model and text.

    import bertviz_core as bv

    result = bv.analyze("surface_patterns", model="demo", corpus=["The cat sat on the mat. It slept."])
    bv.attention("demo", "The cat sat on the mat.")
    bv.attention_lines(["The", "cat"], [[1.0, 0.0], [0.3, 0.7]])  # weights from any library

Importing the package imports neither torch, pandas nor plotly: each name is loaded when it is first used.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from bertviz_core.version import __version__ as __version__

if TYPE_CHECKING:
    from bertviz_core.api import analyse, analyze, attention, head, report
    from bertviz_core.api_arrays import attention_lines, head_map
    from bertviz_core.api_results import AnalysisResult, AttentionLines
    from bertviz_core.api_training import HeadStatistics
    from bertviz_core.errors import BertvizError
    from bertviz_core.heads import Head

__all__ = [
    "AnalysisResult",
    "AttentionLines",
    "BertvizError",
    "Head",
    "HeadStatistics",
    "analyse",
    "analyze",
    "attention",
    "attention_lines",
    "head",
    "head_map",
    "report",
]
_MODULES = dict.fromkeys(__all__, "api") | {
    "BertvizError": "errors",
    "Head": "heads",
    "HeadStatistics": "api_training",
    "attention_lines": "api_arrays",
    "head_map": "api_arrays",
}

# Two OpenMP threads that spin beside another busy process run 8 times slower; it must be set before torch.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# A tokenizer's own threads add nothing at this size and warn after a fork.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
