"""Overview: every head of the model by its behavior, the stored results, and one job for everything that is missing."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from bertviz_core import exports, tasks
from bertviz_core.analyses.base.found_heads import DrawnExample, FoundHead
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import corpus_size, origin
from bertviz_core.analyses.run.run_pass import can_compute
from bertviz_core.errors import BertvizError, DownloadNeeded, SettingsError
from bertviz_core.numbers import fixed, number
from bertviz_core.overview.clearest_heads import ClearestHead
from bertviz_core.overview.finder import describe_found
from bertviz_core.overview.head_columns import in_order
from bertviz_core.overview.named_heads import top_sentence
from bertviz_core.overview.stored_results import SUFFIXES, to_bytes
from bertviz_core.overview.summary import describe_model
from bertviz_core.paper_report.pages import to_html
from bertviz_core.paper_report.report import ReportRequest
from bertviz_core.tour import END
from pages.shared import endnotes, head_panel, jobs, messages, page, preview, services, stored, widgets
from pages.shared.costly import (
    behavior_labels,
    behaviors_finding,
    clearest,
    columns,
    encoded_cards,
    find,
    head_examples,
    holding,
    starts,
)
from pages.shared.frame import context, links
from pages.shared.messages import joined, plain
from pages.shared.state import session
from pages.shared.state.choices import AttentionViewerChoices, HeadChoices, OverviewChoices, TourChoices
from pages.shared.state.kinds import kind_of
from pages.shared.views import atlas_offer, finder_field, head_scatter

CARDS_IN_ROW = 3
SEGMENTS = 2  # on a card
MAX_TOKENS = 34  # of a segment


def draw_table() -> None:
    """Draw a row for each analysis: what it is computed from, or why it is not."""
    rows = []
    for analysis in selection.analyses():
        request = selection.request(analysis.name)
        result = services.find(request)
        if result is not None:
            state = "✓"
        elif can_compute(request):
            state = "not yet"
        elif analysis.reads_residual:
            state = "decoders only"
        elif analysis.language_model:
            state = "no MLM head"
        else:
            state = "norms not known" if request.settings.weights == "norms" else "family not known"
        row = {
            "analysis": links.entry(analysis.name).title,
            "corpus": request.source.name,
            "stored": state,
            "based on": corpus_size(result.provenance if result is not None else {}),
        }
        rows.append(row)
    st.dataframe(rows, hide_index=True, height="content", alt="Stored results by analysis and corpus")


def draw_stored() -> None:
    """The table, one job for what is missing, and the files that the command `overview` writes."""
    draw_table()
    stored.offer_missing(selection)
    corpora = sorted({origin(result.provenance)["corpus"] for result in results.values()})
    name = exports.slug("overview", selection.checkpoint.label, *corpora)
    found = find(results, expression)
    files = {
        suffix[1:].upper(): (f"{name}{suffix}", partial(to_bytes, results, suffix, expression, found))
        for suffix in SUFFIXES
    }
    page.offer_files(files)


def offer_report() -> None:
    """The download if any result is stored; what is missing and the offer to compute it, or the running job."""
    store = services.store()
    corpora = {str(kind): source for kind, source in selection.corpora.items()}
    request = ReportRequest(selection.checkpoint, corpora, selection.settings, stored.MAX_COST)
    key = f"report/{jobs.everything_key(stored.everything(selection))}"
    st.caption("The report has the paper's figures and tables for this model and these corpora, on one printable page.")
    if jobs.is_running(jobs.last(key), "Finished passes are stored."):
        return
    missing = request.to_compute(services.find)
    is_incomplete = bool(missing) or request.lacks_lines(store)
    has_results = any(services.find(each) is not None for each in request.requests())
    if is_incomplete:
        titles = ", ".join(ANALYSES[each.analysis].title for each in missing) or "the lines of Figures 1 and 5"
        st.write(f"Not in the report yet: {titles}." + (" The download leaves them out." if has_results else ""))
    with page.row("center"):
        if is_incomplete:
            label = stored.timed("Compute the report", stored.duration(missing))
            job = key, "Report", partial(tasks.report, request, store)
            st.button(label, icon=":material/summarize:", on_click=jobs.submit, args=job)
        if has_results:
            name = exports.slug("report", selection.checkpoint.label)
            page.offer_files({"Report": (f"{name}.html", lambda: to_html(request.read(store)))})


def draw_strongest() -> None:
    """The strongest head of each behavior, and inputs that show what the best heads of analyses do."""
    strongest = clearest(results)
    for start in range(0, len(strongest), CARDS_IN_ROW):
        columns = st.columns(CARDS_IN_ROW, gap="medium")
        for column, example in zip(columns, strongest[start : start + CARDS_IN_ROW], strict=False):
            with column.container(border=True, height="stretch"):
                draw_card(example)
    for name, result in in_order(results):
        for found, examples in head_examples(ANALYSES[name], result):
            draw_examples(name, found, examples)


def choose_heads() -> str:
    """Draw the field of the expression that finds heads; an empty one where it cannot be read."""
    text = session.page(OverviewChoices).find
    finder_field.draw(results)
    try:
        find(results, text)
    except SettingsError as problem:
        messages.error(problem)
        return ""
    return text


def draw_heads() -> None:
    """A row for each head that is found, with every number; a click on a title sorts, one on a row chooses the head."""
    found = find(results, expression)
    names = [str(name) for name in found.columns.drop(["label", "layer", "head"])]
    known = columns(results)
    titles = {ANALYSES[each.analysis].export_name(each.quantity): each.spec.label for each in known}
    page.table(found, names, selection, "found-heads", titles=titles)
    st.caption(
        "An expression has names, numbers such as 0.5 or 50%, < <= > >= = or !=, and joins them by and, or, not, and "
        "parentheses; 0.2 < previous < 0.5 is one, too. The field completes every name that pages show."
    )


def draw_examples(analysis: str, found: FoundHead, examples: Sequence[DrawnExample]) -> None:
    """What the head finds that is best at it, and inputs that show it."""
    assert found.finding is not None, "of an analysis that says what it comes to"
    with page.row("center"):
        page.finding(found.finding)
        links.to(kind_of(analysis).on(found.target), found.more, head=found.head)
    items = []
    corpus = selection.corpora[ANALYSES[analysis].corpus].name
    for (where, words, marked), svg in examples:
        link = links.to_words(words, found.head, marked, int(found.is_of_keys), origin=f"{corpus}, {where}")
        items.append(page.Drawing(where, svg, link))
    page.drawings(items, f"gallery-{analysis}-{found.target}", selection.basis)


def draw_card(example: ClearestHead) -> None:
    """Draw a clearest head: the segments in which it is clearest, and links to it."""
    name = f"{example.name[0].upper()}{plain(example.name[1:])}"
    st.markdown(f"**{name}: head {example.head.label()}**")
    for segment in example.segments[:SEGMENTS]:
        location = plain(f"passage {segment.number + 1}, {segment.where}")
        st.caption(f"**{number(segment.value)}** in {location}")
        tokens = segment.tokens[-MAX_TOKENS:] if example.quantity == "to_sep" else segment.tokens[:MAX_TOKENS]
        st.markdown(joined(" ".join(tokens)))
    with st.container(horizontal=True, gap="small"):
        opened = kind_of(example.analysis).on(example.quantity)
        links.to(HeadChoices(), f"All about head {example.head.label()}", head=example.head)
        links.to(opened, "Show all heads", ":material/grid_on:", head=example.head)
        first = example.segments[0].number + 1 if example.segments else 1
        links.to(AttentionViewerChoices(input="corpus", segment=first), "Show attention lines", head=example.head)


def draw_opening(chosen: OverviewChoices) -> None:
    """The reader's sentence, and three ways on."""
    with page.row("center", key="overview-opening"):
        widgets.sentence(
            "Sentence",
            "sentence",
            chosen.sentence,
            placeholder="Type a sentence",
            label_visibility="collapsed",
            width="stretch",
            icon=":material/edit:",
        )
        links.to(TourChoices(), "Take the tour")
        icon = ":material/upload:"
        st.button("Use your corpus", icon=icon, type="tertiary", on_click=context.open_for_upload)
        links.to(TourChoices(step=END), "The paper's findings", ":material/fact_check:")
    if note := widgets.sentence_note("sentence"):
        st.caption(note)


def draw_starts() -> tuple[int | None, str]:
    """Draw heads that a newcomer may begin with, each with a sentence that switches it on, and the choice of a word;
    returns what `choose_word` does."""
    offered = starts(results)
    with page.row("center", gap="xsmall", key="overview-starts"):
        if offered:
            first = offered[0]
            text = f"Start with head {first.head.label()}, which {first.summary}. On a sentence:"
            st.caption(links.to_heads(text), width="content")
        for number, each in enumerate(offered):
            label = plain(f"{each.head.label()}: {each.name}")
            about = plain(f"“{each.sentence}”")
            choice = {"sentence": each.sentence, "head": each.head, "word": None}
            st.button(label, key=f"start-{number}", type="tertiary", help=about, on_click=session.choose, kwargs=choice)
        return choose_word()


def choose_word() -> tuple[int | None, str]:
    """Draw the choice of the word that the model is to guess; its position, from 0, or None where none is chosen, or
    the model guesses none; and why it is offered where a reader has not chosen it."""
    place, why = None if chosen.word is None else chosen.word - 1, ""
    try:
        words = preview.words_to_guess(chosen.sentence, selection)
        if place not in words:
            of_own = words and chosen.sentence != OverviewChoices.sentence
            place, why = preview.word_of_head(chosen.sentence, words, selection) if of_own else (None, "")
    except BertvizError:  # The lines say why.
        return None, ""
    if not words:
        return None, ""
    widgets.select(
        "Guess a word",
        [each + 1 for each in words],
        "word",
        None if place is None else place + 1,
        index=None,
        placeholder="Guess a word",
        format_func=lambda option: f"Guess “{words[option - 1]}”",
        label_visibility="collapsed",
        width=176,
    )
    return place, why


def guess_table(place: int | None, why: str) -> page.GuessTable | None:
    """What the model guesses for a word with and without the chosen head, and why for that word."""
    if place is None:
        return None
    found = preview.guesses_of(chosen.sentence, place, selection)
    how = "from what comes before it" if found.is_next else "masked"
    rows = []
    for each in found.guesses:
        shares = [f"{fixed(100 * share, 1)}%" for share in (each.whole, each.without)]
        rows.append((f"✓ {each.label}" if each.is_right else each.label, *shares))
    title = ", ".join(filter(None, (f"Guesses for “{found.label}”", how, why)))
    return {"header": (title, "with", f"without {selection.label}"), "rows": rows}


def lines_on(sentence: str, *, at_once: bool = False) -> bytes:
    """The lines of every head on a sentence; none, and why, where the model cannot run it. Those on the example are
    measured in the background unless they are wanted `at_once`."""
    try:
        return preview.of_sentence(sentence, selection, at_once=at_once)
    except DownloadNeeded:
        raise
    except BertvizError as problem:
        messages.note(problem)
        return b""


def viewer_address() -> str:
    """The address of the chosen head on the reader's sentence."""
    return links.address_of(AttentionViewerChoices(input="own text", text=chosen.sentence), selection.head)


def draw_before_results() -> None:
    """Draw the reader's sentence with the attention of every head, and one job for all results."""
    draw_opening(chosen)
    st.markdown("**Nothing is computed yet for this model and these texts.**")
    stored.offer_missing(selection)
    place = st.container()
    draw_table()
    offer_report()
    stored.offer_papers_model(selection)
    with place:  # last, since a model that nobody has opened takes a while
        draw_pictures()


def draw_pictures() -> None:
    """The map of every head's attention on the reader's sentence, computed now."""
    if lines := lines_on(chosen.sentence, at_once=True):
        st.caption("Each picture is a head's attention on the sentence: from each row's token to each column's.")
        alt = "Map of all heads, layer by head, with a small picture of the attention of each on the sentence"
        opened = {links.LABEL: viewer_address()}
        squares = preview.pictures(chosen.sentence, selection)
        page.head_map(squares, "pictures-map", alt, selection, lines=lines, opened=opened)


selection = session.selection()
chosen = session.page(OverviewChoices)
results = stored.results(selection)
stored.warn(results.values())
labels = behavior_labels(results)
if labels is None:
    draw_before_results()
    raise session.PageEnd

with page.controls():
    kind, sight = describe_model(selection.checkpoint)
    st.caption(plain(kind), help=sight)
draw_opening(chosen)
word, why = draw_starts()
page.finding(behaviors_finding(results), bold=True)
if named := top_sentence(results):
    st.caption(named)
expression = choose_heads()
if expression.strip():
    st.caption(links.to_heads(describe_found(find(results, expression), labels.size)))
drawing = head_panel.map_of(results, expression)
lines = lines_on(chosen.sentence)
if lines and (note := preview.unknown(chosen.sentence, selection)):
    st.caption(plain(note))
cards = encoded_cards(results, preview.values_of(chosen.sentence, selection) if lines else {})
alt = "Map of all heads, layer by head, with a marker for what each head does"
opened = {
    f"All about head {selection.label}": links.address_of(HeadChoices(), selection.head),
    links.LABEL: viewer_address(),
}
guesses = guess_table(word, why)
page.head_map(drawing, "behavior-map", alt, selection, lines=lines, cards=cards, opened=opened, guesses=guesses)
preview.wait_for(selection)

entries = []
for name, result in in_order(results):
    entries += ANALYSES[name].key_numbers(result)
if entries:
    page.metrics(entries)
with st.expander("Findings that hold for this model", icon=":material/fact_check:", expanded=True):
    for finding in holding(results):
        page.finding(finding)
title = f"Every number of head {selection.label}"
endnotes.folded(title, ":material/table:", "numbers", head_panel.card, "overview", results, selection)
count = f"{len(find(results, expression))} of {labels.size} heads"
axes = any((chosen.across, chosen.up, chosen.color))
endnotes.folded(
    "Two numbers of every head against each other",
    ":material/scatter_plot:",
    "scatter",
    head_scatter.draw,
    results,
    expression,
    selection,
    is_open=axes,
)
endnotes.folded(f"{count} in a table", ":material/filter_list:", "heads", draw_heads)
endnotes.folded("The strongest heads", ":material/trophy:", "strongest", draw_strongest)
endnotes.folded("Stored results and downloads", ":material/database:", "stored", draw_stored)
endnotes.folded("Report", ":material/summarize:", "report", offer_report)
endnotes.folded("A site of all heads", ":material/public:", "atlas", atlas_offer.draw, selection)
stored.offer_papers_model(selection)
