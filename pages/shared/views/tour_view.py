"""Parts of the tour: where the reader is, a step with its live figure, and the page at its end."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.results import Results
from bertviz_core.claims import CLAIMS, Claim, Verdict
from bertviz_core.errors import ModelError
from bertviz_core.heads import Head
from bertviz_core.numbers import small_int
from bertviz_core.settings import WEIGHTS
from bertviz_core.tour.findings import NORMS, Findings
from bertviz_core.tour.steps import STEPS, Step
from pages.shared import boxes, stored, stored_result
from pages.shared.boxes import plain
from pages.shared.derived import derived
from pages.shared.frame import address, catalogue, choices, links
from pages.shared.frame.selection import Selection
from pages.shared.views import overview_view

KEY = "step"
UNKNOWN = ":gray[:material/help:]"
STATES = {  # of a verdict: its name at the end of the tour, and its icon
    "holds": ("shown", ":green[:material/check_circle:]"),
    "does not hold": ("not shown", ":red[:material/cancel:]"),
    **{state: (state, UNKNOWN) for state in ("undecided", "no answer", "not computed")},
}


def of_weights(selection: Selection) -> Selection:
    """The tour is about attention weights, whatever the sidebar says."""
    return replace(selection, settings=replace(selection.settings, weights=WEIGHTS[0]))


def results_of(selection: Selection) -> Results:
    """What is stored of this model, by analysis; and the surface patterns through norms."""
    settings = selection.settings
    results, norms = (
        stored.results("tour", replace(selection, settings=replace(settings, weights=weights))) for weights in WEIGHTS
    )
    return results | ({NORMS: norms["surface_patterns"]} if "surface_patterns" in norms else {})


def corpus_name(step: Step | None, results: Results, selection: Selection) -> str:
    """The name of the corpus that a step's figures rest on."""
    if step is None:
        return "all corpora"
    corpus = next((results[name].provenance["corpus"] for name in step.analyses if name in results), None)
    return f"{corpus['name']} ({corpus['digest'][:8]})" if corpus else selection.source.name


def opening_head(selection: Selection) -> Head | None:
    """The head that the step is about, until the reader chooses another."""
    number = small_int(choices.ahead(KEY, "1")) or 1
    if not 1 <= number <= len(STEPS):
        return None
    findings = derived(Step.findings, STEPS[number - 1], results_of(selection), selection.base)
    return findings.head if findings else None


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


def question(step: Step, number: int, findings: Findings | None, base: int) -> None:
    """What the paper says, what to look at and to answer, and the way to the step's page."""
    head = findings.head if findings else None
    at = f" at head {head.label(base)}" if head else ""
    entry = catalogue.entry(step.page)
    st.markdown(f"**The paper:** {plain(step.claim)}  \n**Look:** {plain(step.look)}")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**Question:** {plain(step.question)}", width="stretch")
        links.to(step.page, f"**Open {plain(entry.title)}{at}**", head, entry.icon, **step.address, tour=str(number))


def answer(number: int, findings: Findings, selection: Selection) -> None:
    """What this model's results say to the question; and where they show no clear case, that."""
    with st.expander("Answer", icon=":material/lightbulb:", key=f"answer-{number}"):
        st.markdown(plain(findings.answer))
    if findings.unclear:
        text = f"**No clear case in this model.** {plain(findings.answer)} {plain(findings.unclear)}"
        st.warning(text, icon=":material/help:")
    st.info(f"**This model and BERT-base.** {plain(findings.differs)}", icon=":material/compare:")
    if selection.checkpoint.note:
        st.caption(plain(selection.checkpoint.note))


def compute(step: Step, results: Results, selection: Selection) -> bool:
    """Offer the first result that the step lacks; says whether there was one."""
    missing = next((name for name in step.analyses if name not in results), None)
    if missing is None:
        return False
    source = stored.sources(ANALYSES[missing].corpus, "tour", selection)[0]
    st.markdown(f"This step needs **{plain(ANALYSES[missing].title)}** on {plain(source.name)}.")
    try:
        stored_result.offer(of_weights(selection).request(missing).on(source))
    except ModelError as problem:
        boxes.error(problem)
    return True


def end(results: Results, selection: Selection) -> None:
    """What this model shows of the paper and what not, claim by claim; and the offer to compute what is missing."""
    verdicts = [(claim, claim.verdict(results)) for claim in CLAIMS]
    by_state = {state: [pair for pair in verdicts if pair[1].state == state] for state in STATES}
    counts = ", ".join(f"{len(pairs)} {STATES[state][0]}" for state, pairs in by_state.items() if pairs)
    st.markdown(
        f"**{plain(f'Of {len(CLAIMS)} claims of the paper: {counts}.')}** "
        ":gray[A rule with a threshold decides each: point at its question mark.]"
    )
    for state, pairs in by_state.items():
        if pairs:
            st.markdown(f"**{STATES[state][0].capitalize()}** ({len(pairs)})")
        for claim, verdict in pairs:
            _claim(claim, verdict)
    if selection.base == 0:
        st.caption("In these sentences heads and layers are counted from 1.")
    overview_view.compute_missing("tour", of_weights(selection))


def _claim(claim: Claim, verdict: Verdict) -> None:
    entry, (_, icon) = catalogue.entry(claim.analysis), STATES[verdict.state]
    text, link = st.columns([4, 1], vertical_alignment="center")
    text.markdown(
        f"{icon} {plain(verdict.evidence)}  \n:gray[The paper, section {claim.section}: {plain(claim.text)}]",
        help=f"Rule: {plain(claim.rule)}",
    )
    with link:
        links.to(entry.name, plain(entry.title), None, entry.icon, tour=str(len(STEPS) + 1))
