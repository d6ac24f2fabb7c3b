"""The head that a page opens on, until the reader chooses one: the head that shows most clearly what the page is about.

Only stored results are read; without one a page opens on the first head.
"""

from collections.abc import Callable

import numpy as np

from bertviz_core.analyses.clustering.result import Clustering
from bertviz_core.analyses.coreference_heads.guesses import CANDIDATES, DIRECTIONS, TYPE_ROWS
from bertviz_core.analyses.coreference_heads.result import CoreferenceHeads
from bertviz_core.analyses.probes.result import Probes
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.heads import Head, highest
from bertviz_core.overview.head_summary import clearest_head
from pages.shared import services, stored
from pages.shared.frame import choices
from pages.shared.frame.selection import Selection
from pages.shared.memoize import memoize
from pages.shared.views import compare_view, input_choice, relation_view, tour_view


def of(page: str, selection: Selection) -> Head:
    """The head that a page opens on."""
    own = OPENING.get(page)
    chosen = own(selection) if own else _of_columns(page, selection) if page in ANALYSES else None
    if chosen is None and page not in ANALYSES:
        chosen = _of_all(selection)
    return chosen or Head(0, 0)


def _of_columns(page: str, selection: Selection) -> Head | None:
    """The highest head of the column that the page's map is about to show."""
    analysis, result = ANALYSES[page], services.find(selection.request(page))
    if result is None:
        return None
    read = {column.quantity: values for column in analysis.columns if (values := column.read(result)) is not None}
    if (first := analysis.default_column(result)) is None:
        return None
    values = read.get(choices.ahead(analysis.control_key, ""), read[first.quantity])
    return None if np.isnan(values).all() else highest(values)


def _of_all(selection: Selection) -> Head | None:
    """The clearest head of the stored analyses."""
    return memoize(clearest_head, stored.results(selection))


def _coreference(selection: Selection) -> Head | None:
    result = services.find(selection.request("coreference_heads"))
    if not isinstance(result, CoreferenceHeads):
        return None
    candidates, kind = choices.ahead("candidates", CANDIDATES[0]), choices.ahead("kind", TYPE_ROWS[0])
    direction = choices.ahead("direction", DIRECTIONS[0])
    shown = result.show(candidates if candidates in CANDIDATES else CANDIDATES[0])
    index = shown.directions.index(direction) if direction in shown.directions else 0
    return shown.best(kind if kind in TYPE_ROWS else TYPE_ROWS[0], index).head


def _viewer(selection: Selection) -> Head | None:
    """The head that is best at what the viewer's example is of, where a stored result says so."""
    if choices.ahead("input", input_choice.KINDS[0]) != input_choice.KINDS[0]:
        return None
    example = choices.ahead("example", input_choice.COREFERENCE)
    if example == input_choice.COREFERENCE:
        return _coreference(selection)
    return relation_view.best_head(selection, input_choice.RELATIONS.get(example, ()))


def _probes(selection: Selection) -> Head | None:
    result = services.find(selection.request("probes"))
    return highest(result.attention.max(0)) if isinstance(result, Probes) and len(result.attention) else None


def _clustering(selection: Selection) -> Head | None:
    result = services.find(selection.request("clustering"))
    pair = memoize(Clustering.closest_pair, result) if isinstance(result, Clustering) else None
    return pair and pair[0]


OPENING: dict[str, Callable[[Selection], Head | None]] = {
    "dependency_heads": relation_view.default_head,
    "coreference_heads": _coreference,
    "attention_viewer": _viewer,
    "probes": _probes,
    "clustering": _clustering,
    "compare": compare_view.default_head,
    "tour": tour_view.default_head,
}
