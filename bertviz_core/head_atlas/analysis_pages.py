"""The pages of analyses and of heads in the site, the report, and the list of models."""

from collections.abc import Iterator, Sequence

from bertviz_core import exports
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.head_atlas.contents import ModelContents
from bertviz_core.head_atlas.page_frame import FIGURE_SCRIPTS, HEADS, Frame, anchor, folded, with_links
from bertviz_core.numbers import plural
from bertviz_core.one_head import files as head_files
from bertviz_core.one_head.clear_input import CaptionedSvg
from bertviz_core.one_head.description import OneHead
from bertviz_core.overview.head_columns import in_order
from bertviz_core.overview.summary import behaviors_finding, describe_model
from bertviz_core.paper_report import pages as report_pages
from bertviz_core.plotting.html import element, table

REPORT = "report.html"
OVERVIEW = "index.html"


def address_of(analysis: str) -> str:
    """The file of the page of an analysis."""
    return f"{exports.slug(analysis.replace('_', '-'))}.html"


def head_page(contents: ModelContents, shown: OneHead, lines: CaptionedSvg | None) -> bytes:
    """The page of a head: what the library says of it, and every number as text."""
    title = head_files.title_of(shown)
    place = contents.heads.index(shown.head)
    label = contents.checkpoint.label
    frame = Frame(
        title=title,
        root="../../",
        home=contents.home,
        trail=[("../../index.html", "Atlas"), ("../index.html", label)],
        before=_neighbor(contents, place - 1),
        after=_neighbor(contents, place + 1),
        styles=(HEADS,),
    )
    others = {head.key() for head in contents.heads} - {shown.head.key()}
    body = "".join(head_files.contents(shown, lines))
    every = folded("Every number", table("", ("number", "this head", "rank", "median of all heads"), _rows(shown)))
    used = dict.fromkeys(name for name, _ in shown.figures)
    pages = ", ".join(anchor(f"../{address_of(name)}", ANALYSES[name].title) for name in used)
    return frame.page(element("h1", title), with_links(body, others, ""), every, f'<p class="caption">{pages}</p>')


def _neighbor(contents: ModelContents, place: int) -> tuple[str, str] | None:
    if not 0 <= place < len(contents.heads):
        return None
    key = contents.heads[place].key()
    return f"{key}.html", key


def _rows(shown: OneHead) -> list[tuple[str, ...]]:
    return [
        (row.name, row.text, f"{row.rank} of {row.known.size}", row.median_text)
        for _, figure in shown.figures
        for row in figure.rows
    ]


def analysis_pages(contents: ModelContents) -> Iterator[tuple[str, bytes]]:
    """The page of each analysis, in the order of the app, with what it shows until something is chosen."""
    names = [name for name, _ in in_order(contents.results)]
    for place, name in enumerate(names):
        result = contents.results[name].default_view()
        sides = [names[each] if 0 <= each < len(names) else "" for each in (place - 1, place + 1)]
        before, after = ((address_of(each), ANALYSES[each].title) if each else None for each in sides)
        frame = _figures_frame(contents, exports.title_of(result), before, after)
        table_html = folded("Table", exports.table_html(result.to_frame()))
        body = "".join(exports.contents(result, table_html))
        yield address_of(name), frame.page(element("h1", ANALYSES[name].title), _with_head_links(contents, body))


def report_page(contents: ModelContents) -> bytes:
    """The report, whose scripts are those of the site."""
    title = report_pages.title_of(contents.report)
    body = "".join(report_pages.contents(contents.report))
    return _figures_frame(contents, title).page(element("h1", title), _with_head_links(contents, body))


def _figures_frame(
    contents: ModelContents, title: str, before: tuple[str, str] | None = None, after: tuple[str, str] | None = None
) -> Frame:
    """The frame of a page with figures, on which the dot of a head leads to its page."""
    trail = [("../index.html", "Atlas"), (OVERVIEW, contents.checkpoint.label)]
    return Frame(title, "../", contents.home, trail, before, after, scripts=FIGURE_SCRIPTS, heads="heads/")


def _with_head_links(contents: ModelContents, body: str) -> str:
    return with_links(body, {head.key() for head in contents.heads}, "heads/")


def models_page(models: Sequence[ModelContents], home: str) -> bytes:
    """The first page of the site: its models; `home` is the address of a page above the site, or empty."""
    cards = []
    for each in models:
        kind, _ = describe_model(each.checkpoint)
        finding = behaviors_finding(each.results)
        lines = [f"<h2>{anchor(f'{each.name}/{OVERVIEW}', each.checkpoint.label)}</h2>"]
        lines += [element("p", finding.claim or finding.sentence)]
        lines += [element("p class=caption", f"{kind}; {plural(len(each.results), 'analyses')}")]
        cards.append(f'<section class="model">{"".join(lines)}</section>')
    about = (
        "What every attention head of these models does, with the numbers and the evidence: a page for each model, "
        "each head and each analysis. Heads are named layer-head, counted from 1."
    )
    maker = "Made by bertviz-core, after “What Does BERT Look At?” (Clark et al. 2019)."
    frame = Frame("Atlas of attention heads", "", home)
    return frame.page(
        element("h1", "Atlas of attention heads"), element("p", about), *cards, element("p class=caption", maker)
    )
