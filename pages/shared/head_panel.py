"""The chosen head in every stored analysis of the model: its numbers, ranks, most similar heads, and links."""

import streamlit as st

from bertviz_core.analyses.base.result import Results, result_of
from bertviz_core.analyses.behaviors import OTHER, linguistic
from bertviz_core.analyses.clustering.result import Clustering
from bertviz_core.analyses.dependency_heads.guesses import DEFAULT_VIEW
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.analyses.dependency_heads.result import DependencyHeads
from bertviz_core.analyses.dependency_heads.word_classes import WordClasses
from bertviz_core.corpora.treebank import meaning
from bertviz_core.overview import behavior_labels, columns, nearest, relations
from bertviz_core.overview.summary import NONE, behavior_map, head_rows, relation_rows
from bertviz_core.plotting import BEHAVIORS
from bertviz_core.plotting.head_map import HeadMap
from pages.shared import stored, widgets
from pages.shared.frame import links
from pages.shared.memoize import memoize
from pages.shared.messages import plain
from pages.shared.state.choices import kind_of
from pages.shared.state.selection import Selection

WIDTHS = {"quantity": 230, "value": 75, "rank": 75, "baseline": 150}  # pixels that fit a narrow card
MAX_CLASSES = 6  # of words, by attention


def folded(page: str, selection: Selection) -> None:
    """Draw a popover with the head's numbers, whose label is its behavior; nothing if no result is stored."""
    results = stored.results(selection)
    if not results:
        return
    labels = memoize(behavior_labels, results)
    label = "no behavior computed yet"
    if labels is not None:
        name = str(labels[selection.head])
        behavior = NONE if name == OTHER else BEHAVIORS[name][-1]
        label = memoize(linguistic, results).get(selection.head.label(), behavior)
    panel = widgets.popover(plain(label), ":material/my_location:", "head-panel")
    if panel.open:
        with panel:
            card(page, results, selection)


def card(page: str, results: Results, selection: Selection) -> None:
    """Draw the head's numbers as a table, its best relations, similar heads, and links to other pages of the head."""
    rows = head_rows(memoize(columns, results), selection.head)
    shown = [name for name in WIDTHS if any(row[name] for row in rows)]  # few quantities have a baseline
    alt = f"Every stored number of head {selection.label}, with its rank among all heads"
    widths = {name: st.column_config.Column(width=pixels) for name, pixels in WIDTHS.items()}
    st.dataframe(rows, hide_index=True, height="content", column_config=widths, column_order=shown, alt=alt)
    (best,) = memoize(relations, results, (selection.head,))
    if best:
        st.markdown(f"**Best relations** ({result_of(results, RelationCounts).trees}), with the best fixed offset")
        rows = relation_rows(best, selection.checkpoint.layers * selection.checkpoint.heads)
        st.dataframe(rows, hide_index=True, height="content", alt=f"The best relations of head {selection.label}")
    if isinstance(dependencies := results.get("dependency_heads"), DependencyHeads):
        attended_words(dependencies, DEFAULT_VIEW, selection, narrow=page != "overview")
    if similar := nearest(results, selection.head):
        listed = ", ".join(f"{other.label(selection.base)} ({distance:.3g})" for other, distance in similar)
        st.markdown(f"**Most similar heads** (divergence, {result_of(results, Clustering).unit}): {plain(listed)}")
    for result in results.values():
        if result.provenance["model"].get("causal") and (restriction := result.default_view().restriction):
            st.caption(restriction)
    corpora = {result.provenance["corpus"]["name"] for result in results.values()}
    st.caption(plain(f"Stored results of {selection.checkpoint.label} on {', '.join(sorted(corpora))}."))
    with st.container(horizontal=True, gap="small"):
        for entry in links.HEAD_PAGES:
            if entry.name != page:
                links.to(kind_of(entry.name)())


def attended_words(result: DependencyHeads, view: str, selection: Selection, *, narrow: bool = False) -> None:
    """Draw the head's attention to words by part of speech and by relation, one table below the other if `narrow`."""
    classes = memoize(WordClasses, result)
    by_scheme = {}
    for scheme in classes.schemes(view):
        attended = classes.attended(scheme, selection.head)
        if len(attended):
            by_scheme[scheme] = attended[:MAX_CLASSES]
    if not by_scheme:
        return
    st.markdown(f"**Words that head {selection.label} attends to** (% of its attention to words)")
    table_columns = [st.container() for _ in by_scheme] if narrow else st.columns(len(by_scheme))
    for column, (scheme, attended) in zip(table_columns, by_scheme.items(), strict=True):
        title = "relation" if scheme == view else scheme
        names = [f"{name} ({meaning(name)})" if meaning(name) else name for name in attended["name"]]
        attention = 100 * attended["share"]
        shares = {"attention": attention, "of all words": 100 * attended["expected"], "times": attended["times"]}
        about = "The attention divided by the share of such words among all words."
        config = {
            title: st.column_config.Column(width=190),
            "attention": st.column_config.ProgressColumn(format="%.0f%%", max_value=attention[0], width=95),
            "of all words": st.column_config.NumberColumn(format="%.1f%%", width=90),
            "times": st.column_config.NumberColumn(format="%.1f×", width=60, help=about),
        }
        alt = f"How the attention of head {selection.label} to words divides by {title}"
        column.dataframe({title: names} | shares, hide_index=True, height="content", column_config=config, alt=alt)
    to_words = classes.to_words[selection.head]
    text = f"{to_words:.0%} of this head's attention goes to words, the rest to special tokens."
    preferred = [name for scheme in by_scheme for name in classes.preferred(scheme, [selection.head]) if name]
    if preferred:
        text += f" Beyond their share it attends most to {' and '.join(preferred)}."
    st.caption(plain(text))


def map_of(results: Results, base: int) -> HeadMap:
    labels = memoize(behavior_labels, results)
    named = memoize(linguistic, results)
    assert labels is not None, "drawn only where surface patterns or entropy is stored"
    return behavior_map(labels, memoize(columns, results), named, base)
