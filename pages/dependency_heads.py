"""Dependency heads: which head finds which relation, and where it is right and wrong (section 4.2; Table 1)."""

from functools import partial

import streamlit as st

from bertviz_core import paper
from bertviz_core.analyses.dependency_heads import figure, guesses, relation_finding
from bertviz_core.analyses.dependency_heads.result import DependencyHeads
from bertviz_core.corpora.treebank import ALL, UAS, explain, meaning
from bertviz_core.heads import DirectedHead, arrow
from bertviz_core.plotting import percent
from bertviz_core.plotting.head_map import accuracy_map
from bertviz_core.viewer.preview import of_guesses
from pages.shared import endnotes, head_panel, page, stored
from pages.shared.frame import address, header, links
from pages.shared.memoize import memoize
from pages.shared.messages import plain
from pages.shared.views import lists, page_choices

PER_PAGE = 10  # sentences on one page
# Pixels; the paper's columns are in sight.
WIDTHS = {
    "relation": 62,
    "meaning": 146,
    "n": 44,
    "head": 46,
    "direction": 142,
    "accuracy": 68,
    "interval": 72,
    "held out": 64,
    "by offset": 68,
    "paper": 50,
    "its head": 60,
}


def choose(relation: str) -> None:
    """Choose a relation, its best head, and that head's direction, in a callback."""
    directed = result.best_choice(relation)
    direction = guesses.DIRECTIONS[directed.direction]
    address.choose(relation=relation, direction=direction, head=directed.head.label())


@address.fragment
def draw_sentences() -> None:
    is_total = relation in (ALL, UAS)
    st.header(f"Head {selection.label} in sentences" + ("" if is_total else f" with {plain(relation)}"))
    count = result.provenance["sentences"]
    first = len(result.stored.sentences)
    query = partial(
        guesses.SentenceQuery,
        choice,
        relation=relation,
        view=shown.view,
        merge_subtypes=shown.merge_subtypes,
        causal=bool(result.provenance["model"]["causal"]),
    )
    keys = ("which", "weight", "search", "sentence_page")
    total, listed, is_all = lists.guesses(result, request, first == count, query, PER_PAGE, keys)
    part = f"all {count:,} sentences" if is_all else f"the first {first:,} of {count:,} sentences"
    st.caption(
        f"{total:,} of {part}. Above, the gold arcs; below, the guesses: correct ones solid with a check mark, "
        "wrong ones dashed with a cross, and the attention they have."
    )
    items = []
    for example in listed:
        dependents = () if is_total else example.chosen
        link = links.to_words(example.sentence["words"], dependents, choice.direction)
        title = f"{example.where}: {example.right} of {len(example.chosen)} right"
        items.append(page.Drawing(title, figure.example_svg(example, choice), link))
    page.drawings(items, "sentences")


selection = header.current()
base = selection.base
controls, options = page.controls()
with options:
    request = page_choices.choose_rule(selection)
computed = stored.result_or_stop(request, DependencyHeads)
with options:
    shown = page_choices.choose_counts(computed, selection)
result = memoize(DependencyHeads.show, computed, shown)
page.restriction(result)
with controls:
    relation, direction = page_choices.choose_relation(result)
choice = DirectedHead(direction, selection.head)
best = result.best_choice(relation)
column = result.relations.index(relation)
# (direction, layer, head)
accuracy = result.accuracy[:, column]
page.finding(memoize(relation_finding, result, relation, base), bold=True)
if accuracy[choice.at] != accuracy[best.at]:
    label = f"Choose {best.head.label(base)}"
    st.button(label, on_click=choose, args=(relation,), icon=":material/my_location:")
explanation = meaning(relation)
named = plain(f"{relation} ({explanation})" if explanation else relation)

left, right = st.columns(2, gap="medium")
with left:
    st.markdown(f"**Head map**: {named}, {arrow(guesses.DIRECTIONS[direction])}")
    squares = memoize(accuracy_map, accuracy[direction], relation, base)
    lines = memoize(of_guesses, result, choice, relation) or None
    alt = f"Map of all heads, layer by head, colored by accuracy on {relation}"
    page.head_map(squares, "relation-map", alt, selection, lines=lines)
    if glossed := explain(relation, "**{}**", "*{}*"):
        st.caption(f"{plain(relation)}: {glossed} (**dependent**, *governor*).")
    st.markdown(f"**Fixed offsets**: {named}")
    alt = f"Accuracy of fixed offsets on {relation}"
    page.chart(page.drawn(figure.offset_figure, result, relation, direction), "offsets-figure", alt)
with right:
    st.markdown("**Table 1 as a chart**" + (", of the arcs that a direction sees" if result.is_causal else ""))
    alt = "For each relation the best head with its interval, the best fixed offset, and the paper's best head"
    drawing = page.drawn(figure.paper_figure, result)
    page.chart(drawing, "table-figure", alt, head=selection.head, choose=lambda dot: choose(dot[3]))

row = result.row(relation)
n = int(row["n"])
share = float(accuracy[choice.at])
counted = int(result.counted.sum(0)[direction, column])
low, high = (percent(float(end[direction, column][selection.head]), counted) for end in result.intervals())
offset = guesses.offset_name(row["baseline_offset"])
of_best = of_offset = "not in the paper"
if result.is_causal:
    of_best = f"of {n:,}"
    of_offset = f"random word: {percent(row['random_accuracy'], n)}"
elif values := paper.TABLE_1.get(relation):
    of_best = f"paper: {values[1]} ({values[0]})"
    of_offset = f"paper: {values[2]} ({values[3]:+d})"
entries = [
    ("Best head", percent(row["accuracy"], n), of_best),
    ("Best head, held out", percent(row["heldout_accuracy"], n), "selected on the other half"),
    (f"Best fixed offset, {offset}", percent(row["baseline_accuracy"], n), of_offset),
    (f"Chosen head {selection.label}", percent(share, counted), f"{low} to {high}"),
]
if result.is_causal:
    words = int(row["n_of_all_words"])
    of_all_words = percent(row["accuracy_of_all_words"], words)
    entries.insert(1, ("Best head, of all words", of_all_words, f"of {words:,}"))
page.metrics(entries)

st.markdown("**Best head for each relation** (%); click a row to choose the relation and its best head.")
config = {name: st.column_config.Column(width=pixels) for name, pixels in WIDTHS.items()}
config["n"] = st.column_config.NumberColumn(format="localized", width=WIDTHS["n"])
config["offset"] = st.column_config.NumberColumn(format="%+d", width=55)
page.clickable_table(
    figure.relation_table(result, base),
    "relations",
    lambda row: choose(result.relations[row]),
    "A row for each relation: its best head, interval, held-out accuracy, best offset, and the paper's",
    column_config=config,
    height=min(420, 37 + 35 * len(result.relations)),
    placeholder="",
)
st.caption(
    "*all* is UAS with punctuation, as in the paper's Table 1; *UAS* excludes it, as in Table 3. Fixed offsets "
    "stay within the sentence: offset +1 attaches the last word to itself, while the probes' right-branching "
    "baseline attaches it to ROOT."
)
origin = result.provenance
st.caption(
    f"Trees: {result.trees}; read as {plain(origin['format'])}; {origin['split_words'] / origin['words']:.1%} of the "
    "words are split into pieces (paper: about 8%). The paper's Table 1 is on Stanford Dependencies, with function "
    "words as governors; its numbers are shown for labels of the same name."
)

head_panel.attended_words(computed, shown.view, selection)
draw_sentences()

page.downloads(result)
endnotes.folded("LaTeX", ":material/table:", "latex", lambda: st.code(memoize(figure.latex, result), "latex"))
endnotes.ending(result, guesses.best_words, unit="sentences")
