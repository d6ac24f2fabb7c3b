"""What pages ask of results again and again, and what takes milliseconds to seconds: computed once for all sessions.

The functions have the names that they have in the core, which computes anew with every call. A page that alone asks
for something decorates it beside its imports.
"""

from itertools import islice
from typing import Any

import pandas as pd

from bertviz_core import tour
from bertviz_core.analyses import behaviors
from bertviz_core.analyses.base import averages
from bertviz_core.analyses.base import result as results
from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.found_heads import DrawnExample, FoundHead
from bertviz_core.analyses.base.head_facts import HeadFacts
from bertviz_core.analyses.base.result import Result, Results
from bertviz_core.analyses.base.view import View
from bertviz_core.comparison import result as comparisons
from bertviz_core.emergence import series
from bertviz_core.heads import Head
from bertviz_core.overview import clearest_heads, head_columns, statement_tables, summary
from bertviz_core.overview import starts as overview_starts
from bertviz_core.overview import vocabulary as vocabularies
from bertviz_core.plotting import head_map
from bertviz_core.viewer import preview
from pages.shared.memoize import memoized

# Of all results of a model

behavior_heads = memoized(head_columns.behavior_heads)
behavior_labels = memoized(head_columns.behavior_labels)
behaviors_finding = memoized(summary.behaviors_finding)
clearest = memoized(clearest_heads.clearest)
clearest_head = memoized(clearest_heads.clearest_head)
columns = memoized(head_columns.columns)
encoded_cards = memoized(summary.encoded_cards)
every_finding = memoized(summary.every_finding)
holding = memoized(statement_tables.holding)
found_by_heads = memoized(behaviors.found_by_heads)
head_roles = memoized(tour.head_roles)
linguistic = memoized(behaviors.linguistic)
starts = memoized(overview_starts.starts)
select = memoized(tour.Step.select)
vocabulary = memoized(vocabularies.vocabulary)

shipped = memoized(series.shipped)


@memoized
def find(results: Results, text: str) -> pd.DataFrame:
    """`Vocabulary.find`."""
    return vocabulary(results).find(text)


@memoized
def completions(results: Results) -> list[dict[str, str]]:
    """`Vocabulary.completions`."""
    return vocabulary(results).completions()


# Of one result, or of two

column_map = memoized(averages.HeadColumn.map)
compare = memoized(comparisons.compare)
renamed = memoized(results.renamed)


@memoized
def opening_head(view: View[Any], result: Result) -> Head | None:
    """`View.opening_head`."""
    return view.opening_head(result)


@memoized
def head_examples(analysis: Analysis[Any, Any], result: Result) -> list[tuple[FoundHead, list[DrawnExample]]]:
    """The first of `Analysis.found_heads`, with the inputs that show what they find."""
    found = islice(analysis.found_heads(result), clearest_heads.MOST_FOUND)
    return [(each, each.draw()) for each in found if each.finding]


@memoized
def head_facts(analysis: Analysis[Any, Any], result: Result, head: Head) -> list[HeadFacts]:
    """The tables of `Analysis.of_head`."""
    return [facts for each in analysis.of_head(result, head) for facts in each.figure.facts]


# Of arrays

head_frame = memoized(results.head_frame)
of_input = memoized(preview.of_input)
value_map = memoized(head_map.value_map)
