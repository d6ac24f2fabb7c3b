"""The parts of the overview: key numbers, the strongest heads, what is stored and what is missing, and the report."""

import re
from collections.abc import Mapping
from functools import partial

import numpy as np
import streamlit as st

from bertviz_core import exports, paper
from bertviz_core.analyses import runtime_estimate
from bertviz_core.analyses.behaviors import UNTRAINED, Thresholds, with_behavior
from bertviz_core.analyses.dependency_heads.figure import example_svg, examples
from bertviz_core.analyses.dependency_heads.result import DependencyHeads, ShownRelations
from bertviz_core.analyses.dependency_heads.sentences import SentenceExample
from bertviz_core.analyses.head_averages import HeadAverages
from bertviz_core.analyses.model_pass import can_compute
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.requests import passes
from bertviz_core.analyses.results import Results, corpus_size, origin
from bertviz_core.analyses.surface_patterns import sinks
from bertviz_core.analyses.surface_patterns.figure import BY_QUANTITY
from bertviz_core.heads import highest
from bertviz_core.models.tokens import SPACE_MARKS
from bertviz_core.numbers import number
from bertviz_core.overview.head_summary import ClearestHead, Relation, Segment, clearest, relation_heads
from bertviz_core.overview.stored_results import SUFFIXES, summarized
from bertviz_core.paper_report.pages import to_html
from bertviz_core.paper_report.request import ReportRequest
from pages.shared import files, jobs, services, stored
from pages.shared.components import drawings
from pages.shared.frame import links
from pages.shared.frame.selection import Selection
from pages.shared.memoize import memoize
from pages.shared.messages import joined, plain

CLEAREST = (  # findings of single heads, for the overview
    "surface_patterns.previous",
    "surface_patterns.next",
    "surface_patterns.sink",
    "entropy.broad",
    "dependency_heads.relation",
    "coreference_heads.nearest",
)


def key_numbers(
    results: Results, labels: np.ndarray, named: Mapping[str, str], base: int
) -> list[tuple[str, str, str]]:
    """(label, this run, paper), labels (layer, head) naming behaviors."""
    rest = ", ".join(f"{(labels == name).sum()} {name}" for name in UNTRAINED)
    entries = [("Heads with a behavior", f"{with_behavior(labels)} of {labels.size}", f"and {rest}")]
    if isinstance(patterns := results.get("surface_patterns"), HeadAverages):
        head = highest(patterns["previous"])
        clearest = f"{head.label(base)}: {patterns['previous'][head]:.2f}"
        over = paper.HEADS_OVER_HALF["previous"]
        entries.append(("Previous token, clearest", clearest, f"paper: {over} heads over 0.5"))
        for quantity in sinks(patterns)[:1]:
            most = f"{patterns.layer_means(quantity).max():.2f}"
            own = f"unmasked text; paper: [SEP], {max(paper.LAYER_MEANS['to_sep']):.2f}"
            entries.append((f"To {BY_QUANTITY[quantity].short}, highest layer", most, own))
    if "dependency_heads" in results or "coreference_heads" in results:
        entries.append(("Linguistic heads", str(len(named)), f"paper: names {len(paper.LINGUISTIC_HEADS)}"))
    elif isinstance(entropy := results.get("entropy"), HeadAverages):
        last = f"{entropy.layer_means('entropy')[-1]:.2f} nats"
        entries.append(("Mean entropy, last layer", last, f"paper: {paper.LAYER_MEANS['entropy'][-1]:.1f}"))
    return entries


def stored_results(thresholds: Thresholds, results: Results, selection: Selection) -> None:
    """What is stored, what is missing, and the table of all heads as files."""
    panel(selection)
    downloads(results, thresholds, selection)


def downloads(results: Results, thresholds: Thresholds, selection: Selection) -> None:
    """The table of all heads, as the command `overview` writes it."""
    corpora = sorted({origin(result.provenance)["corpus"] for result in results.values()})
    name = exports.slug("overview", selection.checkpoint.label, *corpora)

    def build(suffix: str) -> bytes:
        return summarized(results, thresholds).to_bytes(suffix)

    files.offer({s[1:].upper(): (f"{name}{s}", partial(build, s)) for s in SUFFIXES})


def panel(selection: Selection) -> None:
    """A row for each analysis, and one job for what is missing."""
    table = [_row(selection.request(analysis.name)) for analysis in selection.analyses()]
    st.dataframe(table, hide_index=True, height="content", alt="Stored results by analysis and corpus")
    compute_missing(selection)


def _row(request: Request) -> dict[str, str]:
    result = services.find(request)
    origin = result.provenance if result is not None else {}
    lacking = "no MLM head" if ANALYSES[request.analysis].language_model else "norms not known"
    return {
        "analysis": links.entry(request.analysis).title,
        "corpus": request.source.name,
        "stored": "✓" if result is not None else "not yet" if can_compute(request) else lacking,
        "based on": corpus_size(origin),
    }


def compute_missing(selection: Selection) -> None:
    """What is missing as one job: the running one, or the offer to start it."""
    missing = [r for r in stored.everything(selection) if services.find(r) is None and can_compute(r)]
    if jobs.is_running(jobs.last(st.session_state.get("everything", "")), "Finished passes are stored."):
        return
    if not missing:
        apart = [a.title for a in ANALYSES.values() if a.cost(selection.checkpoint) > stored.MAX_COST]
        start = f" Start {', '.join(apart)} from {'its' if len(apart) == 1 else 'their'} own page." if apart else ""
        st.caption(f"All analyses are stored for these corpora.{start}")
        return
    groups = passes(missing)
    st.write(
        f"{len(missing)} analyses are missing. One job runs them in {len(groups)} forward passes; analyses of one "
        "corpus share a pass. Results are stored as each pass finishes."
    )
    st.caption(plain(", ".join(dict.fromkeys(ANALYSES[each.analysis].title for each in missing))))
    label = f"Run all ({runtime_estimate.text(runtime_estimate.seconds(services.store(), groups))})"
    st.button(label, type="primary", icon=":material/play_arrow:", on_click=_run_everything, args=(missing,))


def _run_everything(missing: list[Request]) -> None:
    st.session_state["everything"] = key = jobs.everything_key(missing)
    jobs.everything(key, missing)


REPORT = "report job"


def report(selection: Selection) -> None:
    """The download where any result is stored; beside it what is missing and the offer to compute it, or the job."""
    corpora = {str(kind): source for kind, source in selection.corpora.items()}
    request = ReportRequest(selection.checkpoint, corpora, selection.settings, stored.MAX_COST)
    st.caption("The report has the paper's figures and tables for this model and these corpora, on one printable page.")
    if jobs.is_running(jobs.last(st.session_state.get(REPORT, "")), "Finished passes are stored."):
        return
    missing = request.to_compute(services.find)
    some = any(services.find(each) is not None for each in request.requests())
    if lacking := bool(missing) or request.lacks_lines(services.store()):
        titles = ", ".join(ANALYSES[each.analysis].title for each in missing) or "the lines of Figures 1 and 5"
        st.write(f"The report lacks: {titles}." + (" The download is without them." if some else ""))
    with st.container(horizontal=True, vertical_alignment="center"):
        if lacking:
            label = f"Compute the report ({request.duration(services.store(), missing)})"
            st.button(label, icon=":material/summarize:", on_click=_compute_report, args=(request,))
        if some:
            name = exports.slug("report", selection.checkpoint.label)
            files.offer({"Report": (f"{name}.html", lambda: to_html(request.read(services.store())))})


def _compute_report(request: ReportRequest) -> None:
    own = "-".join(sorted(each.key()[:16] for each in request.requests()))  # the lines alone have no request
    keys = (each.key() for each in request.to_compute(services.find))
    st.session_state[REPORT] = key = "/".join(["report", own, *keys])
    jobs.report(key, request)


LONGEST = 34  # tokens shown of a segment
SEGMENTS = 2
SENTENCES = 2
SENTENCE = 70  # characters of a sentence that is seen without scrolling
BESIDE = 3  # examples in a row


def examples_of(results: Results, selection: Selection) -> None:
    """The strongest heads, and the relations that heads find, each with its clearest text."""
    strongest_heads(results, selection)
    relations_found(results, selection)


def strongest_heads(results: Results, selection: Selection) -> None:
    """A card for each behavior: the head, its number, its segments, and links to details."""
    examples = memoize(clearest, results)
    for start in range(0, len(examples), BESIDE):
        for column, example in zip(st.columns(BESIDE, gap="medium"), examples[start : start + BESIDE], strict=False):
            with column.container(border=True, height="stretch"):
                _card(example, selection)


def relations_found(results: Results, selection: Selection) -> None:
    """Draw, for the clearest relations, the sentences in which their best head is right and surest."""
    if "dependency_heads" not in results:
        return
    shown = memoize(DependencyHeads.show_default, results["dependency_heads"])
    for each in memoize(relation_heads, shown):
        direction, head = each.choice
        label = head.label(selection.base)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(
                f"**{plain(each.name)}: head {label}** finds {each.accuracy:.1%}"
                f"{f' of {each.n:,} with the {each.counted}' if each.counted else ''}, the best fixed offset "
                f"{each.baseline:.1%}"
            )
            icon = ":material/account_tree:"
            links.to("dependency_heads", "Show all sentences", head, icon, relation=each.name)
        best = memoize(_best, shown, each)
        drawn = [(example.where, example_svg(example, each.choice)) for example in best]
        targets = [links.to_tree(example.sentence, example.chosen, direction, head) for example in best]
        drawings(drawn, f"gallery-{each.name}", links.addresses(targets))


def _best(shown: ShownRelations, each: Relation) -> list[SentenceExample]:
    """The sentences that are shown of a relation."""
    sentences = examples(shown, each.choice, each.name)
    right = sorted(
        (example for example in sentences if example.right == example.words), key=lambda example: -example.weight
    )
    short = [example for example in right if len(" ".join(example.sentence["words"])) <= SENTENCE]
    return (short or right)[:SENTENCES]


def _card(example: ClearestHead, selection: Selection) -> None:
    label = example.head.label(selection.base)
    unit = "nats of entropy" if example.quantity == "entropy" else "of the attention"
    st.markdown(f"**{example.name[0].upper()}{plain(example.name[1:])}: head {label}**")
    st.markdown(f"{number(example.value)} {unit}")
    for segment in example.segments[:SEGMENTS]:
        location = plain(f"segment {segment.number + 1}, {segment.where}")
        st.caption(f"**{number(segment.value)}** in {location}")
        st.markdown(_tokens(segment, example.quantity))
    with st.container(horizontal=True, gap="small"):
        control = ANALYSES[example.analysis].map_of(example.quantity)
        links.to(example.analysis, "Show all heads", example.head, ":material/grid_on:", **control)
        first = str(example.segments[0].number + 1) if example.segments else "1"
        corpus = {"input": "corpus", "segment": first}
        links.to("attention_viewer", "Show attention lines", example.head, ":material/hub:", **corpus)


def _tokens(segment: Segment, quantity: str) -> str:
    """A part of the tokens, those that the head looks at in bold and color: the separator is the last."""
    looked_at = {"to_sep": segment.tokens[-1:], "to_cls": segment.tokens[:1], "to_punct": [".", ","]}.get(quantity, [])
    part = segment.tokens[-LONGEST:] if quantity == "to_sep" else segment.tokens[:LONGEST]
    words = " ".join(f":red[**{plain(t)}**]" if t in looked_at else plain(t) for t in part)
    words = re.sub(r"(?<=\w) \\#\\#", "", words)  # a piece that a special token precedes stays apart
    if any(mark in words for mark in SPACE_MARKS):
        words = joined(" ".join(part))
    cut = len(segment.tokens) > LONGEST
    return f"… {words}" if cut and quantity == "to_sep" else f"{words} …" if cut else words
