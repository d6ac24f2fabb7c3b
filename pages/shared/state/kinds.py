"""The kind of choices that each page has, by the name of the page.

What a reader can choose on the page of an analysis is declared in the core: its options, and its view. A class of
choices with their fields is made here, so that an analysis, installed ones too, declares a choice once.
"""

from dataclasses import dataclass, field, make_dataclass
from functools import cache
from typing import Any, Self

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.request import Options
from bertviz_core.analyses.base.view import View
from bertviz_core.choices import default, hints
from bertviz_core.heads import Head
from pages.shared.state.choices import (
    AttentionViewerChoices,
    CompareChoices,
    EmergenceChoices,
    HeadChoices,
    OverviewChoices,
    PageChoices,
    TourChoices,
)

PAGES: tuple[type[PageChoices], ...] = (
    *(OverviewChoices, HeadChoices, AttentionViewerChoices, CompareChoices, EmergenceChoices, TourChoices),
)
HEAD = "head"  # a field of views whose choice is the header's


@dataclass(frozen=True)
class AnalysisChoices(PageChoices):
    """Of the page of an analysis; `kind_of` adds the fields of its options and of its view, but the head."""

    @classmethod
    def parameter(cls, field: str) -> str:
        """The name of a field in the address, where the quantity has a name of its own for each analysis."""
        analysis = ANALYSES[cls.page_name]
        return analysis.control_key if field == "quantity" else analysis.view.parameter(field)

    @classmethod
    def on(cls, target: str) -> Self:
        """The page on one of the things that it shows, as a quantity or a relation."""
        name = ANALYSES[cls.page_name].view.target
        own: dict[str, Any] = {name: target} if name else {}
        return cls(**own)


def view_of(choices: AnalysisChoices, head: Head | None = None) -> View[Any]:
    """What is chosen of a result, and the head of the header, if the view reports one."""
    kind = ANALYSES[choices.page_name].view
    of_header = {HEAD: head.key()} if head is not None and HEAD in hints(kind) else {}
    return kind(**_values(choices, kind), **of_header)


def options_of(choices: AnalysisChoices, paper: bool) -> Options:
    """The options of the request that are chosen; `paper` says whether the mode is "paper"."""
    kind = ANALYSES[choices.page_name].options
    return kind(**_values(choices, kind)).in_mode(paper)


def _values(choices: AnalysisChoices, kind: type[View[Any]] | type[Options]) -> dict[str, Any]:
    return {name: getattr(choices, name) for name in hints(kind) if name != HEAD}


@cache
def kind_of(page: str) -> type[PageChoices]:
    """The choices of a page."""
    known = {kind.page_name: kind for kind in PAGES}
    if page in ANALYSES:
        return _of_analysis(ANALYSES[page])
    return known.get(page) or type("NoPage", (PageChoices,), {"page_name": page})  # before the first page is opened


def _of_analysis(analysis: Analysis[Any, Any]) -> type[AnalysisChoices]:
    own = {
        name: (hint, field(default=default(kind, name)))
        for kind in (analysis.options, analysis.view)
        for name, hint in hints(kind).items()
        if name != HEAD
    }
    listed = [(name, hint, start) for name, (hint, start) in own.items()]
    namespace = {"page_name": analysis.name}
    return make_dataclass(analysis.name, listed, bases=(AnalysisChoices,), frozen=True, namespace=namespace)
