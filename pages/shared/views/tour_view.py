"""Parts of the tour: where the reader is, the terms, a slide with its answer, the ledger at the end, and the reader's
own sentence."""

from collections import Counter
from dataclasses import replace
from typing import Literal

import streamlit as st

from bertviz_core.analyses.findings import STATES, Finding
from bertviz_core.analyses.head_averages import HeadAverages
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.results import Result, Results
from bertviz_core.heads import Head
from bertviz_core.numbers import small_int
from bertviz_core.overview.findings import every_finding
from bertviz_core.settings import WEIGHTS
from bertviz_core.tour import PICTURE, STEPS, TERMS, Step, answers, head_roles
from bertviz_core.tour import address as address_of
from pages.shared import stored
from pages.shared.components import drawings
from pages.shared.frame import address, choices, links
from pages.shared.frame.selection import Selection
from pages.shared.memoize import memoize
from pages.shared.messages import plain
from pages.shared.views import findings_view, overview_view, tour_figures

Kind = Literal["primary", "secondary", "tertiary"]  # of a button
KEY, ANSWER = "step", "answer"
END = len(STEPS) + 1
OWN = END + 1
SENTENCE = "The dog that chased the cats barked at its owner."
MAX_CHARACTERS = 300  # of a sentence that fits a slide


def of_weights(selection: Selection) -> Selection:
    """The tour is about attention weights, whichever weights are chosen."""
    return replace(selection, settings=replace(selection.settings, weights=WEIGHTS[0]))


def results_of(selection: Selection) -> Results:
    """What is stored of this model, by analysis."""
    return stored.results(of_weights(selection))


def default_head(selection: Selection) -> Head | None:
    """The head that the slide is about, until the reader chooses another; where it is the answer, once that is
    shown."""
    number, results = _number(choices.ahead(KEY, "")), results_of(selection)  # no choice that every page shares
    if number == OWN:
        return next(iter(memoize(head_roles, results, selection.base)), None)
    if not 1 <= number <= len(STEPS):
        return None
    step = STEPS[number - 1]
    findings = memoize(Step.select, step, results, selection.base)
    return Head(0, 0) if step.asks_for_head and not choices.ahead(ANSWER, "") else _head_of(findings)


def _head_of(findings: list[Finding]) -> Head | None:
    """The first head that the findings of a step name."""
    return next((finding.head for finding in findings if finding.head), None)


def go(number: int) -> None:
    """Go to another slide, in a callback; it opens on a head of its own, without its answer.

    The address has the slide at once, not when its figure has come: a reader who leaves before that comes back to it.
    """
    address.release("head")
    address.put(ANSWER, "")
    address.put(KEY, str(number) if number else "")
    parameters = {name: text for name, text in st.query_params.to_dict().items() if name not in ("head", ANSWER, KEY)}
    st.query_params.from_dict(parameters | ({KEY: str(number)} if number else {}))


def current() -> int:
    """The number of the slide in the address."""
    return _number(address.get(KEY))


def _number(text: str) -> int:
    number = small_int(text) or 0
    return number if 0 <= number <= OWN else 0


def navigation() -> int:
    """Back, the slides and Next in one row, the arrow keys for both; gives the number of the slide."""
    here = current()
    with st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", key="tour-navigation"
    ):
        st.button("Back", shortcut="Left", on_click=go, args=(here - 1,), disabled=here == 0)
        with st.container(horizontal=True, gap="xxsmall", width="content", key="tour-steps"):
            for number in range(OWN + 1):
                kind: Kind = "primary" if number == here else "tertiary"
                st.button(str(number), key=f"to-{number}", type=kind, on_click=go, args=(number,))
        st.button("Next", shortcut="Right", on_click=go, args=(here + 1,), disabled=here == OWN)
    return here


def terms() -> None:
    """What the other slides take for granted, drawn and in words."""
    st.header("Four words to begin with", anchor=False)
    drawings([("A sentence as a model reads it", PICTURE.read_text("utf-8"))], "tour-terms")
    columns = st.container(key="terms").columns(len(TERMS))
    for column, (term, text) in zip(columns, TERMS.items(), strict=True):
        column.markdown(f"**{plain(term)}**  \n{text}")
    st.caption("The model and the corpora above decide every figure and every answer. Turn the pages with ← and →.")


def slide(step: Step, number: int, results: Results, selection: Selection) -> None:
    """A step: the question at the left, its figure at the right; the answer when it is asked for."""
    findings = memoize(Step.select, step, results, selection.base)
    shown = bool(answers(findings)) and address.get(ANSWER) == "shown"
    if step.page in ANALYSES:  # the others' figures have room for every corpus
        _sign(selection.request(step.page), selection)
    text, figure = st.columns([2, 3], gap="medium")
    with text:
        st.header(plain(step.title), anchor=False)
        st.caption(plain(f"Step {number} of {len(STEPS)} · {step.section}"))
        if not shown:
            st.markdown(plain(f"{step.background} {step.look}".strip()))
        st.markdown(f"**{plain(step.question)}**")
        if shown:
            _answer(findings, results.get(step.page), selection)
        elif answers(findings):
            st.button("Show answer", shortcut="A", on_click=address.put, args=(ANSWER, "shown"), key="show-answer")
        head = _head_of(findings) if shown or not step.asks_for_head else None
        at = f" at head {head.label(selection.base)}" if head else ""
        entry, settings = links.entry(step.page), address_of(step.page, findings)
        links.to(step.page, plain(f"Open {entry.title}{at}"), head, entry.icon, **settings, tour=str(number))
        if shown and isinstance(result := results.get(step.page), HeadAverages) and result.absence:
            st.caption(plain(result.absence))
    with figure:
        if answers(findings):
            tour_figures.draw(step, findings, f"tour-{number}", results, selection, shown)
        elif not _compute(step, results, selection):
            st.markdown("The corpus or this model's tokens lack what this step is about, so it has no figure.")


def _sign(request: Request, selection: Selection) -> None:
    """Have the figures say what this slide alone was computed from, which fits under them."""
    model, source, mode = selection.checkpoint, request.source, selection.settings.mode
    basis = f"{model.label} ({model.fingerprint()[:8]}), {source.name} ({source.digest[:8]}), {mode}"
    st.session_state["origin"] = f"{basis}; after Clark et al. 2019"


def _answer(findings: list[Finding], result: Result | None, selection: Selection) -> None:
    """What this model's results say to the question, and the paper; what a causal mask leaves of the numbers."""
    first, *more = answers(findings)
    findings_view.with_statement(first)
    restriction = result.restriction if result else ""
    if more or restriction:
        with st.expander("More of this section" + (f" ({len(more)})" if more else "")):
            for finding in more:
                findings_view.with_statement(finding)
            if restriction:
                st.caption(restriction)
    if selection.checkpoint.note:
        st.caption(plain(selection.checkpoint.note))


def _compute(step: Step, results: Results, selection: Selection) -> bool:
    """Offer the first result that the step lacks; says whether there was one."""
    missing = next((name for name in step.analyses if name not in results), None)
    if missing is None:
        return False
    request = of_weights(selection).request(missing)
    st.markdown(f"This step needs **{plain(ANALYSES[missing].title)}** on {plain(request.source.name)}.")
    if not stored.offer(request):
        st.caption("The other steps do without it.")
    return True


def own_sentence(results: Results, selection: Selection) -> None:
    """The reader's sentence, and the lines of the heads that the tour has found."""
    text, figure = st.columns([2, 3], gap="medium")
    with text:
        st.header("Now your sentence", anchor=False)
        st.markdown("Write one, and see what the heads that this tour has found do with it.")
        sentence = choices.text("Sentence", key="sentence", default=SENTENCE, max_chars=MAX_CHARACTERS)
        with st.container(horizontal=True, gap="xsmall"):
            for head, does in memoize(head_roles, results, selection.base).items():
                label = f"{head.label(selection.base)}: {does}"
                kind: Kind = "primary" if head == selection.head else "secondary"
                chosen = {"head": head.label()}
                st.button(label, type=kind, key=f"role-{label}", on_click=address.choose, kwargs=chosen)
        claim = st.container()
        own = {"input": "own text", "text": sentence, "tour": str(OWN)}
        links.to(links.VIEWER.name, links.LABEL, selection.head, links.VIEWER.icon, **own)
    if sentence.strip():
        with figure:
            tour_figures.sentence(sentence, claim, of_weights(selection))


def end(results: Results, selection: Selection) -> None:
    """Which statements of the paper this model shows, and a button to compute what is missing."""
    st.header("What this model shows", anchor=False)
    findings = memoize(every_finding, results, selection.base)
    of_paper = [finding for finding in findings if finding.statement]
    counts = Counter(finding.state for finding in of_paper)
    text = ", ".join(f"{counts[state]} {state}" for state in STATES if state in counts)
    st.markdown(
        f"**{plain(f'Of {len(of_paper)} statements of the paper: {text}.')}** "
        ":gray[A rule with a threshold decides each: point at its question mark.]"
    )
    for state in STATES:
        group = [finding for finding in findings if finding.state == state]
        if group:
            beyond = len(group) - counts[state]
            more = f", and {beyond} beyond the paper" if beyond else ""
            st.markdown(f"**{state.capitalize()}** ({counts[state]}{more})")
        for finding in group:
            _with_link(finding)
    overview_view.compute_missing(of_weights(selection))


def _with_link(finding: Finding) -> None:
    entry = links.entry(finding.analysis)
    text, link = st.columns([4, 1], vertical_alignment="center")
    with text:
        findings_view.with_statement(finding)
    with link:
        links.to(entry.name, plain(entry.title), None, entry.icon, tour=str(END))
