"""Coreference in words, in a table beside the paper's, and passages with a head's guesses drawn in."""

from functools import partial

import numpy as np
import streamlit as st

from bertviz_core import paper
from bertviz_core.analyses.coreference_heads import direction_finding
from bertviz_core.analyses.coreference_heads.document_figure import draw
from bertviz_core.analyses.coreference_heads.guesses import CANDIDATES, CHANCE, DIRECTIONS, RANDOM, TYPE_ROWS
from bertviz_core.analyses.coreference_heads.passages import MAX_ITEMS, PassageQuery
from bertviz_core.analyses.coreference_heads.result import AntecedentCounts, CoreferenceHeads
from bertviz_core.analyses.details import ORDERS
from bertviz_core.analyses.request import Request
from bertviz_core.corpora.files import SAMPLES
from bertviz_core.heads import DirectedHead, Head, arrow
from bertviz_core.models.labels import isolated
from bertviz_core.plotting import percent
from pages.shared import messages, page, services
from pages.shared.frame import Selection, address, choices, links
from pages.shared.memoize import memoize
from pages.shared.page import Drawing, Metric
from pages.shared.views import lists

PAPER_HEAD = "head 5-4"
PAPER_SYSTEMS = ("nearest", "head match", "rule-based")
SHOWN = 3  # passages on one page
AMONG = {"mentions": "the preceding mentions", "words": "all other words"}


def choose(computed: CoreferenceHeads) -> tuple[AntecedentCounts, str, int]:
    """Draw the choice of the candidates, the type of mention, and which of DIRECTIONS heads are read in."""
    kind = choices.segmented("Mentions", TYPE_ROWS, key="kind", default=TYPE_ROWS[0])
    about = "`mentions`: the head words of preceding mentions. `words`: any other word (stricter)."
    candidates = choices.segmented("Candidates", CANDIDATES, key="candidates", default=CANDIDATES[0], help=about)
    result = memoize(CoreferenceHeads.show, computed, candidates)
    about = "The paper measures mention → antecedent; its numbers are shown for that direction only."
    look = {"key": "direction", "default": DIRECTIONS[0], "format_func": arrow, "help": about}
    return result, kind, DIRECTIONS.index(choices.segmented("Direction of attention", result.directions, **look))


def default_head(selection: Selection) -> Head | None:
    """The best head at what the page is about to show."""
    computed = services.find(selection.request("coreference_heads"))
    if not isinstance(computed, CoreferenceHeads):
        return None
    with choices.unseen():
        result, kind, direction = choose(computed)
    return result.best(kind, direction).head


def headline(result: AntecedentCounts, direction: int, selection: Selection) -> None:
    """The finding of one direction, and the way to the head it names."""
    best, n = result.best(direction=direction), int(result.n[0])
    label = best.head.label(selection.base)
    page.finding(memoize(direction_finding, result, direction, selection.base), bold=True)
    if result.candidates == "mentions" and 2 * result.stored.single > n:
        st.info(
            "Most mentions have only one candidate, so no head can be wrong about them: the file marks few mentions "
            "(like WinoBias). Choose “words” as candidates.",
            icon=":material/info:",
        )
    if best.head != selection.head:
        chosen, icon = {"head": best.head.label(), "direction": DIRECTIONS[direction]}, ":material/visibility:"
        st.button(f"Choose head {label}", icon=icon, on_click=address.choose, kwargs=chosen, key="look")


def describe_reading(result: AntecedentCounts, direction: int, base: int) -> None:
    """Say chance, whether the other direction is better, and the file's format."""
    n, origin = int(result.n[0]), result.provenance
    chance, drawn = (percent(result.of_system(name)[0], n) for name in (CHANCE, RANDOM))
    outside = "The paper does not measure this direction. " if direction else ""
    every = [result.best(direction=index) for index in range(len(result.directions))]
    best, better = every[direction], max(every, key=lambda choice: float(result.accuracy[:, 0][choice.at]))
    other = ""
    if better.direction != direction:
        here, more = (result.row(each)["accuracy"] for each in (best, better))
        named = f"{better.head.label(base)}, {arrow(DIRECTIONS[better.direction])}"
        other = f" The best head of both directions is {named}: {more:.1%} beside {here:.1%}."
    st.caption(
        f"Candidates: {AMONG[result.candidates]}. {outside}"
        f"Chance (1 / candidates) is {chance}; a random candidate is an antecedent in {drawn}."
        f"{other} {result.stored.single:,} mentions have only one candidate. Read as "
        f"{messages.plain(origin['format'])}; head words found by {origin['head_words']}."
    )


def papers_numbers(result: AntecedentCounts) -> dict[str, tuple[int, ...]]:
    """The paper's Table 2 where it may stand beside this corpus's numbers: it is of CoNLL-2012."""
    origin = result.provenance
    is_comparable = "CoNLL-2012" in origin["format"] and origin["corpus"]["name"] not in SAMPLES["coreference"]
    return paper.TABLE_2 if is_comparable else {}


def metrics(result: AntecedentCounts, direction: int, base: int) -> list[Metric]:
    """Of the best head of one direction, chance, and the paper's baselines."""
    best, n = result.best(direction=direction), int(result.n[0])
    accuracy = result.row(best)["accuracy"]
    cited = {name: f"paper: {numbers[0]}%" for name, numbers in papers_numbers(result).items()}
    beside = "" if direction else cited.get(PAPER_HEAD, "")
    entries = [(f"Best head: {best.head.label(base)}", percent(accuracy, n), beside)]
    if result.is_causal:
        of_all_mentions = percent(result.row(best)["accuracy_of_all_mentions"], result.of_all)
        entries.append(("Best head, of all mentions", of_all_mentions, f"of {result.of_all:,}"))
    for name, share in zip(result.systems, result.systems_accuracy[:, 0], strict=True):
        if name in (CHANCE, RANDOM, *PAPER_SYSTEMS):
            entries.append((name.capitalize(), percent(share, n), cited.get(name, "")))
    return entries


def table_2(result: AntecedentCounts, choice: DirectedHead, base: int) -> None:
    """This corpus beside the paper's Table 2, percent, and the chosen head; intervals are in the downloads."""
    best, accuracy = result.best(), np.moveaxis(result.accuracy, 1, -1)  # (direction, layer, head, type)
    cited = papers_numbers(result)
    shares = dict(zip(result.systems, result.systems_accuracy, strict=True))
    best_name = f"best head, {best.head.label(base)}"
    shares[best_name] = accuracy[best.at]
    apart = [result.best(kind) if n else None for kind, n in zip(TYPE_ROWS, result.n, strict=True)]
    each = [np.nan if choice is None else accuracy[choice.at][row] for row, choice in enumerate(apart)]
    shares["best head for each type"] = np.array(each)
    for other in [result.best(direction=index) for index in range(1, len(result.directions))]:
        shares[f"{arrow(DIRECTIONS[other.direction])}: best head, {other.head.label(base)}"] = accuracy[other.at]
    shares[f"{arrow(DIRECTIONS[choice.direction])}: chosen head, {choice.head.label(base)}"] = accuracy[choice.at]
    rows = []
    for name, row in shares.items():
        cells = [percent(share, n).removesuffix("%") for share, n in zip(row, result.n, strict=True)]
        for index, there in enumerate(cited.get(PAPER_HEAD if name == best_name else name, ())):
            cells[index] += f" ({there})"
        rows.append({"system": name} | dict(zip(TYPE_ROWS, cells, strict=True)))
    beside = "; in parentheses: the paper's, on CoNLL-2012" if cited else ""
    st.markdown(f"**Table 2**: accuracy (%), mention → antecedent{beside}")
    st.dataframe(rows, hide_index=True, alt="Accuracy by system and type of mention, the paper's in parentheses")
    labels = [choice.head.label(base) if choice else "none" for choice in apart]
    neural = "Wiseman et al.'s neural system reaches 83 in the paper." if cited else ""
    counts = [f"{kind} {n:,} ({head})" for kind, n, head in zip(TYPE_ROWS, result.n, labels, strict=True)]
    st.caption(f"n and best head: {', '.join(counts)}. {neural}")


@address.fragment
def documents(result: AntecedentCounts, request: Request, choice: DirectedHead, selection: Selection) -> None:
    """Passages with mentions in the color of their chain, and the chosen head's guesses among preceding mentions."""
    st.header(f"Guesses of head {selection.label}")
    every, query = int(result.n[0]), partial(PassageQuery, choice)
    keys, is_whole = ("guesses", "over", "document_search", "passage_page"), len(result.stored.items) == every
    total, passages, is_all = lists.guesses(result, request, is_whole, query, SHOWN, keys, ORDERS[2])
    part = "" if is_all else f" in the documents of the first {MAX_ITEMS:,} of {every:,} mentions"
    st.caption(
        f"{total:,} passages{part}. Head words are bold; mentions of one chain have one color. Right guesses are solid "
        "and green with a check mark, wrong ones dashed and red with a cross. Each guess below a passage is a link to "
        "the attention behind it."
    )
    items = []
    for passage in passages:
        outside = sum(guess.is_outside for guess in passage.listed)
        more = f"; guesses that point out of the passage, listed alone: {outside}" if outside else ""
        title = f"{passage.where}: {passage.right} of {passage.total} guesses right{more}"
        notes = []
        for guess in passage.listed:  # its link: the window in which it was made, the mention's head word pinned
            text = f"{'✓' if guess.right else '✗'} {isolated(guess.mention)} → {isolated(guess.guessed)}"
            target = links.to_words(guess.window, [guess.head], choice.direction, least="0")
            notes.append((f"{text} {guess.weight:.3f}", target))
        items.append(Drawing(title, draw(passage.document, passage.drawn, "currentColor"), notes=notes))
    page.drawings(items, "passages")
