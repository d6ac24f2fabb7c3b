"""All analyses by name: the built-in ones, then those of installed packages."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from bertviz_core.analyses.analysis import Analysis, Kind

if TYPE_CHECKING:
    from bertviz_core.models.encoding import Encoded
    from bertviz_core.models.reading import Examples

BUILT_IN = (
    "surface_patterns",
    "entropy",
    "sep_gradients",
    "dependency_heads",
    "coreference_heads",
    "probes",
    "clustering",
)
ENTRY_POINT = "bertviz_core.analyses"
log = logging.getLogger(__name__)


def _installed() -> Iterator[Analysis]:
    """What packages offer as an entry point; one that cannot be loaded is logged and left out."""
    for entry in entry_points(group=ENTRY_POINT):
        try:
            analysis = entry.load()
        except Exception:
            log.exception("The analysis %s of %s cannot be loaded.", entry.name, entry.value)
            continue
        if isinstance(analysis, Analysis) and analysis.name not in BUILT_IN:
            yield analysis
        else:
            log.error("%s is no Analysis, or has the name of a built-in one.", entry.value)


_built_in = (import_module(f"bertviz_core.analyses.{name}").ANALYSIS for name in BUILT_IN)
ANALYSES: dict[str, Analysis] = {analysis.name: analysis for analysis in (*_built_in, *_installed())}


def shared_pass(analysis: Analysis) -> list[Analysis]:
    """The analyses that one pass computes when this one is asked for."""
    others = [other for other in ANALYSES.values() if other.shared and other.corpus == analysis.corpus]
    return others if analysis.shared else [analysis]


def examples_class(kind: Kind) -> type[Examples[Encoded]]:
    """What reads corpora of one kind."""
    from bertviz_core.models.segments import Segments
    from bertviz_core.models.sentences import Sentences
    from bertviz_core.models.windows import Windows

    classes: dict[Kind, type[Examples[Encoded]]] = {"text": Segments, "treebank": Sentences, "coreference": Windows}
    return classes[kind]
