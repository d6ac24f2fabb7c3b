"""The parts of the probes' page: its settings, Table 3, learned weights, sentences with two trees."""

from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from bertviz_core.analyses.probes.figure import papers_scores, sentence_drawing, title, titles
from bertviz_core.analyses.probes.result import AS_RELEASED, PROBES, ProbeOptions, Probes
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.request import Request
from bertviz_core.corpora.treebank import meaning
from bertviz_core.plotting.head_map import weight_map
from pages.shared import page
from pages.shared.frame import address, choices, links
from pages.shared.frame.selection import Selection
from pages.shared.memoize import memoize
from pages.shared.messages import plain
from pages.shared.page import Drawing
from pages.shared.views import lists
from pages.shared.views.probe_files import FILES, chosen_file

SHOWN = 10  # sentences a page
DIRECTIONS = ("governor → dependent", "dependent → governor")


def choose(selection: Selection) -> Request:
    """The settings of the training; what differs from the defaults makes another result."""
    with st.expander("Training and scoring", icon=":material/tune:"):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            epochs = choices.number("Maximum epochs", 1, 50, None, key="epochs", placeholder="default", width=150)
            rank = choices.number("Rank of the structural probe", 1, 1024, ProbeOptions().rank, key="rank", width=210)
        probes = choices.multiselect("Probes", PROBES, key="probes", default=PROBES, format_func=title)
        others = {role: source for role in FILES if (source := chosen_file(role))}
    plan = ProbeOptions(tuple(probes) or PROBES, epochs, rank)
    return replace(selection.request("probes", plan.to_json()), others=others)


def headline(result: Probes, base: int) -> None:
    """The first finding, and how many sentences the numbers rest on."""
    page.finding(ANALYSES["probes"].findings(result, base)[0], bold=True)
    parts = result.about["sentences"]
    st.caption(f"Trained on {parts['train']:,} sentences, scored on {parts['test']:,} others.")


def numbers(result: Probes) -> list[tuple[str, str, str]]:
    """Metrics with the paper's numbers, and what says how far to trust them."""
    entries = [
        (title(probe.removesuffix(AS_RELEASED)), f"{result.of(probe):.1%}", f"{text}paper: {score}%")
        for probe, score in zip(result.probes, papers_scores(result)[0], strict=True)
        if score and probe.startswith("attention")
        for text in ["as released; " if probe.endswith(AS_RELEASED) else ""]
    ]
    if control := result.about.get("control"):
        selectivity = f"{100 * control['selectivity']:.1f}"
        entries.append(("Selectivity, attention only", selectivity, f"control task: {control['accuracy']:.1%}"))
    if vectors := result.about.get("vectors"):
        source = plain(vectors["name"].removeprefix("the model's "))  # as much as fits
        entries.append(("Words without a vector", f"{vectors['unknown_words']:.1%}", source))
    return entries or [("Best fixed offset", f"{result.about['best_offset']:+d}", "on the training part")]


def table(result: Probes) -> None:
    """Table 3 with intervals, the paper's column, and what each probe costs."""
    if result.about["sentences"]["train"] < 1000:
        st.caption(
            "This corpus is too small to train probes well: treat these numbers as a demonstration, not as a finding."
        )
    frame = result.to_frame()
    percent = (100 * frame[["score", "low", "high"]]).round(1)
    without, including = papers_scores(result)
    shown = {
        "probe": titles(result),
        "metric": frame["metric"],
        "score": percent["score"],
        "95%": [f"{low:.1f} to {high:.1f}" for low, high in zip(percent["low"], percent["high"], strict=True)],
        "paper": without,
        "with punctuation": (100 * frame["with_punctuation"]).round(1),
        "paper, with punctuation": including,
        "parameters": frame["parameters"],
        "seconds": frame["seconds"],
    }
    formats = {name: st.column_config.NumberColumn(format="%.1f") for name in ("score", "with punctuation", "seconds")}
    formats["parameters"] = st.column_config.NumberColumn(format="localized")
    st.dataframe(
        shown, hide_index=True, column_config=formats, placeholder="", height="content", alt="A row for each probe"
    )
    text = "UAS excludes punctuation, as in the paper except for its right-branching 26, which is over all words "
    text += "(26.3 in Table 1, offset +1)."
    if any(probe.endswith(AS_RELEASED) for probe in result.probes):
        text += " As released: the notebook scores a candidate with the vector of the next word (a misaligned ROOT); "
        text += "aligned: with its own vector."
    st.caption(text)
    layer = result.about.get("structural")
    if layer:
        layer_name = f"layer {layer['layer']}" if layer["layer"] else "the embeddings"
        st.caption(
            f"Best layer of the structural probe, chosen without the test set: {layer_name}; rank {layer['rank']}."
        )


def weights(result: Probes, selection: Selection) -> None:
    """Weights of the attention-only probe: a weight for every head in both directions."""
    if not len(result.attention):
        return
    st.header("Weights of the attention-only probe")
    for column, values, name in zip(st.columns(2, gap="medium"), result.attention, DIRECTIONS, strict=True):
        with column:
            st.markdown(f"**{name}**: blue favors an arc, orange disfavors it")
            figure = memoize(weight_map, values, f"weight {name}:", selection.base)
            alt = f"Map of all heads colored by the weight of attention {name}"
            page.head_map(figure, f"weights {name}", alt, selection)


def relations(result: Probes) -> None:
    """How many words of each relation each probe finds."""
    st.caption(
        "Labels are as annotated, since the probes learn the annotated trees. The page Dependency heads reads function "
        "words as governors, with the paper's labels: obj is dobj there, and case is prep."
    )
    shown = [row for row in range(len(result.relations)) if result.relation_n[:, row].max() > 0]
    n = result.relation_n[:, shown]
    shares = 100 * result.relation_right[:, shown] / np.where(n > 0, n, np.nan)
    names = [result.relations[row] for row in shown]
    columns = {"relation": names, "meaning": list(map(meaning, names)), "words": n.max(0)}
    probes = [name.partition(" (")[0] for name in titles(result)]
    columns |= dict(zip(probes, shares, strict=True))
    formats = {name: st.column_config.NumberColumn(format="%.1f") for name in probes}
    st.dataframe(
        columns, hide_index=True, column_config=formats, placeholder="", height=320, alt="A row for each relation"
    )


@address.fragment
def sentences(result: Probes) -> None:
    """Sentences of the test part: the treebank's tree above, the probe's guesses below."""
    st.header("Gold and predicted trees")
    first = result.probes.index("attention-only") if "attention-only" in result.probes else 0
    with st.container(horizontal=True, vertical_alignment="bottom"):
        named = partial(title, result=result)
        default = result.probes[first]
        probe = choices.selectbox("Probe", result.probes, key="probe", default=default, format_func=named, width=320)
        searched = lists.words("probe_search")
        found = result.sentences_with(searched)
        number = choices.page_of(len(found), SHOWN, key="probe_page")
    chosen = found[SHOWN * (number - 1) : SHOWN * number]
    tested = result.about["sentences"]["test"]
    of = "all" if len(result.sentences) == tested else f"the first {len(result.sentences):,} of"
    st.caption(
        f"{len(found):,} of {of} {tested:,} sentences. Above, the gold arcs; below, the guesses: "
        "correct ones solid with a check mark, wrong ones dashed with a cross."
    )
    items = []
    for sentence in chosen:
        text, svg = sentence_drawing(sentence, probe)
        items.append(Drawing(f"{sentence['where']}: {text}", svg, links.to_tree(sentence)))
    page.drawings(items, "probe-sentences")
