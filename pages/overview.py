"""Overview: every head of the model by its behavior, the stored results, and one job for everything that is missing."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from bertviz_core import exports, paper, tasks
from bertviz_core.analyses.behaviors import UNTRAINED, linguistic, with_behavior
from bertviz_core.analyses.dependency_heads.figure import example_svg
from bertviz_core.analyses.dependency_heads.result import DependencyHeads
from bertviz_core.analyses.findings import SHOWN
from bertviz_core.analyses.head_averages import HeadAverages
from bertviz_core.analyses.model_pass import can_compute
from bertviz_core.analyses.registry import ANALYSES, findings
from bertviz_core.analyses.results import Results, corpus_size, origin
from bertviz_core.analyses.surface_patterns import sinks
from bertviz_core.analyses.surface_patterns.figure import BY_QUANTITY
from bertviz_core.heads import highest
from bertviz_core.numbers import number
from bertviz_core.overview import ClearestHead, behavior_labels, clearest, relation_heads
from bertviz_core.overview.stored_results import SUFFIXES, Overview
from bertviz_core.overview.summary import behaviors_finding, encoded_cards, surest_sentences
from bertviz_core.paper_report import ReportRequest
from bertviz_core.paper_report.pages import to_html
from bertviz_core.viewer.preview import SENTENCE
from pages.shared import endnotes, head_panel, jobs, page, preview, services, stored
from pages.shared.frame import Selection, address, header, links
from pages.shared.memoize import memoize
from pages.shared.messages import joined, plain
from pages.shared.page import Drawing, Metric

IN_VIEWER = {"input": "own text", "text": SENTENCE}
CLEAREST = (  # findings of single heads, for the overview
    "surface_patterns.previous",
    "surface_patterns.next",
    "surface_patterns.sink",
    "entropy.broad",
    "dependency_heads.relation",
    "coreference_heads.nearest",
)
BESIDE = 3  # strongest heads in a row
SEGMENTS = 2  # of each head
LONGEST = 34  # tokens of a segment


def key_numbers(results: Results, labels: Any, named: Mapping[str, str], base: int) -> list[Metric]:
    """Of all heads, beside the paper's numbers; `labels` (layer, head) are names of behaviors."""
    rest = ", ".join(f"{(labels == name).sum()} {name}" for name in UNTRAINED)
    entries = [("Heads with a behavior", f"{with_behavior(labels)} of {labels.size}", f"and {rest}")]
    if isinstance(patterns := results.get("surface_patterns"), HeadAverages):
        head = highest(patterns["previous"])
        clear = f"{head.label(base)}: {patterns['previous'][head]:.2f}"
        over = paper.HEADS_OVER_HALF["previous"]
        entries.append(("Previous token, clearest", clear, f"paper: {over} heads over 0.5"))
        for quantity in sinks(patterns)[:1]:
            most = f"{patterns[quantity].mean(1).max():.2f}"
            own = f"unmasked text; paper: [SEP], {max(paper.LAYER_MEANS['to_sep']):.2f}"
            entries.append((f"To {BY_QUANTITY[quantity].short}, highest layer", most, own))
    if "dependency_heads" in results or "coreference_heads" in results:
        entries.append(("Linguistic heads", str(len(named)), f"paper: names {paper.LINGUISTIC_HEADS}"))
    return entries


def stored_results(results: Results, selection: Selection) -> None:
    """What is stored, what is missing, and the table of all heads as the command `overview` writes it."""
    panel(selection)
    corpora = sorted({origin(result.provenance)["corpus"] for result in results.values()})
    name = exports.slug("overview", selection.checkpoint.label, *corpora)
    build = Overview(results).to_bytes
    page.offer_files({suffix[1:].upper(): (f"{name}{suffix}", partial(build, suffix)) for suffix in SUFFIXES})


def panel(selection: Selection) -> None:
    """A row for each analysis, and one job for what is missing."""
    rows = []
    for analysis in selection.analyses():
        request = selection.request(analysis.name)
        result = services.find(request)
        lacking = "no MLM head" if analysis.language_model else "norms not known"
        row = {
            "analysis": links.entry(analysis.name).title,
            "corpus": request.source.name,
            "stored": "✓" if result is not None else "not yet" if can_compute(request) else lacking,
            "based on": corpus_size(result.provenance if result is not None else {}),
        }
        rows.append(row)
    st.dataframe(rows, hide_index=True, height="content", alt="Stored results by analysis and corpus")
    stored.offer_missing(selection)


def report(selection: Selection) -> None:
    """The download where any result is stored; beside it what is missing and the offer to compute it, or the job."""
    corpora = {str(kind): source for kind, source in selection.corpora.items()}
    request = ReportRequest(selection.checkpoint, corpora, selection.settings, stored.MAX_COST)
    key = f"report/{jobs.everything_key(stored.everything(selection))}"
    st.caption("The report has the paper's figures and tables for this model and these corpora, on one printable page.")
    if jobs.is_running(jobs.last(key), "Finished passes are stored."):
        return
    missing = request.to_compute(services.find)
    some = any(services.find(each) is not None for each in request.requests())
    if lacking := bool(missing) or request.lacks_lines(services.store()):
        titles = ", ".join(ANALYSES[each.analysis].title for each in missing) or "the lines of Figures 1 and 5"
        st.write(f"The report lacks: {titles}." + (" The download is without them." if some else ""))
    with st.container(horizontal=True, vertical_alignment="center"):
        if lacking:
            label = f"Compute the report ({stored.duration(missing)})"
            given = key, "Report", partial(tasks.report, request, services.store())
            st.button(label, icon=":material/summarize:", on_click=jobs.submit, args=given)
        if some:
            name = exports.slug("report", selection.checkpoint.label)
            page.offer_files({"Report": (f"{name}.html", lambda: to_html(request.read(services.store())))})


def gallery(results: Results, selection: Selection) -> None:
    """A card for each behavior with its strongest head; then, for the clearest relations, the sentences in which their
    best head is right and surest."""
    strongest = memoize(clearest, results)
    for start in range(0, len(strongest), BESIDE):
        for column, example in zip(st.columns(BESIDE, gap="medium"), strongest[start : start + BESIDE], strict=False):
            with column.container(border=True, height="stretch"):
                _card(example, selection)
    if "dependency_heads" not in results:
        return
    shown = memoize(DependencyHeads.default_view, results["dependency_heads"])
    for each in memoize(relation_heads, shown):
        direction, head = each.choice
        with st.container(horizontal=True, vertical_alignment="center"):
            counted = f" of {each.n:,} with the {each.counted}" if each.counted else ""
            finds = f"finds {each.accuracy:.1%}{counted}, the best fixed offset {each.baseline:.1%}"
            st.markdown(f"**{plain(each.name)}: head {head.label(selection.base)}** {finds}")
            icon = ":material/account_tree:"
            links.to("dependency_heads", "Show all sentences", head, icon, relation=each.name)
        items = []
        for sentence in memoize(surest_sentences, shown, each):
            target = links.to_words(sentence.sentence["words"], sentence.chosen, direction, head=head.label())
            items.append(Drawing(sentence.where, example_svg(sentence, each.choice), target))
        page.drawings(items, f"gallery-{each.name}")


def _card(example: ClearestHead, selection: Selection) -> None:
    unit = "nats of entropy" if example.quantity == "entropy" else "of the attention"
    name = f"{example.name[0].upper()}{plain(example.name[1:])}"
    st.markdown(f"**{name}: head {example.head.label(selection.base)}**")
    st.markdown(f"{number(example.value)} {unit}")
    for segment in example.segments[:SEGMENTS]:
        location = plain(f"segment {segment.number + 1}, {segment.where}")
        st.caption(f"**{number(segment.value)}** in {location}")
        tokens = segment.tokens[-LONGEST:] if example.quantity == "to_sep" else segment.tokens[:LONGEST]
        st.markdown(joined(" ".join(tokens)))
    with st.container(horizontal=True, gap="small"):
        control = {ANALYSES[example.analysis].control_key: example.quantity}
        links.to(example.analysis, "Show all heads", example.head, ":material/grid_on:", **control)
        first = str(example.segments[0].number + 1) if example.segments else "1"
        corpus = {"input": "corpus", "segment": first}
        links.to("attention_viewer", "Show attention lines", example.head, ":material/hub:", **corpus)


selection = header.current()
with header.title_line():
    links.to("tour", "Take the guided tour", None, ":material/tour:")
results = stored.results(selection)
if not {"surface_patterns", "entropy"} & results.keys():
    st.write("No results are stored for this model yet.")
    panel(selection)
    report(selection)
    stored.offer_papers_model(selection)
    raise address.PageEnd

labels = memoize(behavior_labels, results)
named = memoize(linguistic, results)
page.finding(memoize(behaviors_finding, results), bold=True)
drawing = memoize(head_panel.map_of, results, selection.base)
cards = memoize(encoded_cards, results, selection.base)
alt = "Map of all heads, layer by head, with a marker for what each head does"
page.head_map(drawing, "behavior-map", alt, selection, cards=cards, link=links.viewer_address(IN_VIEWER))
preview.wait_for(selection)

page.metrics(key_numbers(results, labels, named, selection.base))
with st.expander("Findings that hold for this model", icon=":material/fact_check:", expanded=True):
    for finding in memoize(findings, results, selection.base):
        if finding.id in CLEAREST and finding.state == SHOWN:
            page.finding(finding)
given = results, selection
endnotes.folded(
    f"Every number of head {selection.label}", ":material/table:", "numbers", head_panel.card, "overview", *given
)
endnotes.folded("The strongest heads", ":material/trophy:", "strongest", gallery, *given)
endnotes.folded("Stored results and downloads", ":material/database:", "stored", stored_results, *given)
endnotes.folded("Report", ":material/summarize:", "report", report, selection)
stored.offer_papers_model(selection)
