"""The guided tour as one page: each slide's question, its figure, and its answer under a line that opens it."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path

import bertviz_core as bv
from bertviz_core.analyses.base.findings import Finding
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Results
from bertviz_core.analyses.behaviors import found_by_heads, linguistic
from bertviz_core.emergence.figure import order_figure
from bertviz_core.emergence.result import Emergence
from bertviz_core.emergence.series import shipped
from bertviz_core.engine.store import Store
from bertviz_core.heads import Head
from bertviz_core.models.checkpoint import DEMO, DEMO_DECODER, find_checkpoint
from bertviz_core.overview.head_columns import behavior_heads, columns
from bertviz_core.overview.stored_results import largest
from bertviz_core.overview.summary import behavior_map, count_states, every_finding
from bertviz_core.plotting.drawing import figure_html
from bertviz_core.plotting.head_map import HeadMap
from bertviz_core.plotting.head_map_files import map_frame, map_html
from bertviz_core.plotting.html import bullets, element
from bertviz_core.settings import Settings
from bertviz_core.tour import PICTURE, STEPS, TERMS, Step, answers, first_head, on_one_scale
from docs.site import pages

SENTENCE = "The large dog chased a small cat across the garden."
"""Its determiners and nouns are near each other, so that the lines are short."""
INTRODUCTION = (
    "Each slide asks a question, shows a figure, and has its answer below. The app has it for your own model and text."
)


def results_of(model: str) -> Results:
    """The results that ship of a model, each analysis on its largest corpus."""
    with tempfile.TemporaryDirectory() as folder:
        return largest(Store(Path(folder)), find_checkpoint(model).fingerprint(), Settings())


def terms() -> str:
    """The first slide: a sentence as a model reads it, and the words of the field."""
    reader = pages.markdown()
    explained = "".join(f"<dt>{escape(term)}</dt><dd>{reader.renderInline(text)}</dd>" for term, text in TERMS.items())
    return f'<h2 id="terms">Words to begin with</h2><figure>{PICTURE.read_text("utf-8")}</figure><dl>{explained}</dl>'


def answer(step: Step, findings: Sequence[Finding]) -> str:
    """What the results say, the answer to the question first."""
    answers = step.asked(findings)
    texts = [each.text for each in (*answers, *(each for each in findings if each not in answers))]
    return f"<details><summary>Answer</summary>{element('h3', step.short_answer(findings))}{bullets(texts)}</details>"


def maps(step: Step, findings: Sequence[Finding], results: Results) -> str:
    """The maps of the first two quantities that the answers are about, on one scale."""
    about = {(each.analysis, each.quantity): each for each in reversed(findings) if each.quantity}
    shown = [*reversed(about)][:2]
    of_quantity = [(ANALYSES[name].column(quantity), results[name]) for name, quantity in shown]
    squares = on_one_scale([column.map(result) for column, result in of_quantity])
    return f'<div class="maps">{"".join(map(framed, squares, (column.label for column, _ in of_quantity)))}</div>'


def framed(squares: HeadMap, title: str) -> str:
    """A map of heads in a frame."""
    return f"<figure>{element('figcaption', title)}{map_frame(map_html(squares, title, ''), squares)}</figure>"


def behaviors(results: Results) -> HeadMap:
    """The map of what each head does, which does not say how many do it: that is the question."""
    members = behavior_heads(results)
    assert members is not None, "the samples have the results"
    squares = behavior_map(members, columns(results), linguistic(results), found=found_by_heads(results))
    groups = tuple(replace(group, name=group.name.rpartition(" (")[0]) for group in squares.groups)
    return replace(squares, groups=groups)


def figure(step: Step, findings: Sequence[Finding], results: Results) -> str:
    """The figure of a step."""
    head = first_head(list(findings)) or Head(0, 0)
    if step.as_map:
        return maps(step, findings, results)
    if step.page == "attention_viewer":
        return bv.attention(DEMO, SENTENCE, head=head.key())._repr_html_()
    if step.page == "overview":
        return framed(behaviors(results), "What each head does")
    if step.page == Emergence.analysis:
        return f"<figure>{figure_html(order_figure(shipped()))}</figure>"
    chart = ANALYSES[step.page].tour_chart(results[step.page], head, linguistic(results), False)
    return f"<figure>{figure_html(chart.figure)}</figure>"


def slides(by_model: Mapping[str, Results]) -> Iterator[str]:
    """A section for each step that the models which ship can answer."""
    for number, general in enumerate(STEPS, 1):
        model = DEMO_DECODER if general.of_decoder else DEMO
        results = by_model[model]
        step = general.of_model(results)
        findings = answers(step.select(results))
        if not findings:
            continue
        yield f'<section><h2 id="slide-{number}">{number}. {escape(step.title)}</h2>'
        yield element("p class=caption", f"{step.section}. Model: {model}.")
        yield element("p", f"{step.background} {step.look}".strip())
        yield f"<p><strong>{escape(step.question)}</strong></p>"
        yield figure(step, findings, results) + answer(step, findings) + "</section>"


def end(results: Results) -> str:
    """Which statements of the paper the model shows."""
    findings = every_finding(results)
    texts = [f"{each.statement} {each.state.capitalize()}: {each.sentence}" for each in findings if each.statement]
    count = element("p", f"{count_states(findings)}.")
    return f'<h2 id="end">What this model shows</h2>{count}<details><summary>Each</summary>{bullets(texts)}</details>'


def page(plotly: str) -> str:
    """The whole page; `plotly` is the file of the site with plotly's script."""
    by_model = {model: results_of(model) for model in (DEMO, DEMO_DECODER)}
    body = element("h1", "Guided tour") + element("p", INTRODUCTION) + terms()
    body += "".join(slides(by_model)) + end(by_model[DEMO])
    title = f"Guided tour · {pages.HOME}"
    return pages.document(title, pages.MENU["Guided tour"], body, f'<script src="{plotly}"></script>')
