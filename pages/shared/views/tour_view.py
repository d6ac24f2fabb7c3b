"""Parts of the tour: where the reader is, a step with its live figure, and the page at its end."""

from collections import Counter
from dataclasses import replace

import streamlit as st

from bertviz_core.analyses.findings import STATES, Finding
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.results import Results
from bertviz_core.heads import Head
from bertviz_core.numbers import small_int
from bertviz_core.overview.findings import every_finding
from bertviz_core.settings import WEIGHTS
from bertviz_core.tour import STEPS, Step, answers
from bertviz_core.tour import address as address_of
from pages.shared import stored
from pages.shared.frame import address, catalogue, choices, links
from pages.shared.frame.selection import Selection
from pages.shared.memoize import memoize
from pages.shared.messages import plain
from pages.shared.views import findings_view, overview_view

KEY = "step"


def of_weights(selection: Selection) -> Selection:
    """The tour is about attention weights, whichever weights are chosen."""
    return replace(selection, settings=replace(selection.settings, weights=WEIGHTS[0]))


def results_of(selection: Selection) -> Results:
    """What is stored of this model, by analysis."""
    return stored.results(of_weights(selection))


def default_head(selection: Selection) -> Head | None:
    """The head that the step is about, until the reader chooses another."""
    number = small_int(choices.ahead(KEY, "1")) or 1
    if not 1 <= number <= len(STEPS):
        return None
    found = memoize(Step.found, STEPS[number - 1], results_of(selection), selection.base)
    return head_of(found)


def head_of(found: list[Finding]) -> Head | None:
    """The first head that the findings of a step name."""
    return next((finding.head for finding in found if finding.head), None)


def go(number: str | None = None) -> None:
    """Go to another step, or to the step just chosen, in a callback; the step opens on a head of its own.

    The address has the step at once, not when its figure has come: a reader who leaves before that comes back to it.
    """
    if number is not None:
        st.session_state[KEY] = number
    address.release("head")
    parameters = {**st.query_params.to_dict(), KEY: st.session_state[KEY]}
    omitted = {"head"} | ({KEY} if parameters[KEY] == "1" else set())
    st.query_params.from_dict({name: text for name, text in parameters.items() if name not in omitted})


def navigation(count: int) -> int:
    """Back, the steps and Next in one row; gives the number of the step, from 1."""
    numbers = [str(number) for number in range(1, count + 1)]
    with st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="bottom", key="tour-navigation"
    ):
        back = st.container(width="content")
        number = choices.segmented(
            "Step",
            numbers,
            key=KEY,
            default=numbers[0],
            on_change=go,
            label_visibility="collapsed",
        )
        current = int(number)
        following = st.container(width="content")
    before, after = str(max(current - 1, 1)), str(min(current + 1, count))
    back.button("Back", icon=":material/arrow_back:", on_click=go, args=(before,), disabled=current == 1)
    following.button(
        "Next",
        type="primary",
        icon=":material/arrow_forward:",
        icon_position="right",
        on_click=go,
        args=(after,),
        disabled=current == count,
    )
    return current


def question(step: Step, number: int, found: list[Finding], base: int) -> None:
    """What the paper says, what to look at and to answer, and the way to the step's page."""
    head = head_of(found)
    at = f" at head {head.label(base)}" if head else ""
    entry = catalogue.entry(step.page)
    says = " ".join(filter(None, [step.background, *(finding.statement for finding in found)]))
    st.markdown(f"**The paper:** {plain(says)}  \n**Look:** {plain(step.look)}")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**Question:** {plain(step.question)}", width="stretch")
        settings = address_of(step.page, found)
        links.to(step.page, f"**Open {plain(entry.title)}{at}**", head, entry.icon, **settings, tour=str(number))


def answer(number: int, found: list[Finding], selection: Selection) -> None:
    """What this model's results say to the question."""
    with st.expander("Answer", icon=":material/lightbulb:", key=f"answer-{number}"):
        for finding in answers(found):
            findings_view.plainly(finding)
        if selection.checkpoint.note:
            st.caption(plain(selection.checkpoint.note))


def compute(step: Step, results: Results, selection: Selection) -> bool:
    """Offer the first result that the step lacks; says whether there was one."""
    missing = next((name for name in step.analyses if name not in results), None)
    if missing is None:
        return False
    request = of_weights(selection).request(missing)
    st.markdown(f"This step needs **{plain(ANALYSES[missing].title)}** on {plain(request.source.name)}.")
    stored.offer(request)
    return True


def end(results: Results, selection: Selection) -> None:
    """What this model shows of the paper and what not; and the offer to compute what is missing."""
    found = memoize(every_finding, results, selection.base)
    of_paper = [finding for finding in found if finding.statement]
    counts = Counter(finding.state for finding in of_paper)
    text = ", ".join(f"{counts[state]} {state}" for state in STATES if state in counts)
    st.markdown(
        f"**{plain(f'Of {len(of_paper)} statements of the paper: {text}.')}** "
        ":gray[A rule with a threshold decides each: point at its question mark.]"
    )
    for state in STATES:
        group = [finding for finding in found if finding.state == state]
        if group:
            st.markdown(f"**{state.capitalize()}** ({len(group)})")
        for finding in group:
            _with_link(finding)
    overview_view.compute_missing(of_weights(selection))


def _with_link(finding: Finding) -> None:
    entry = catalogue.entry(finding.analysis)
    text, link = st.columns([4, 1], vertical_alignment="center")
    with text:
        findings_view.with_statement(finding)
    with link:
        links.to(entry.name, plain(entry.title), None, entry.icon, tour=str(len(STEPS) + 1))
