"""The kind of choices that each page has, by the name of the page.

What a reader can choose on the page of an analysis is declared in the core: its options, and its view. A class of
choices with their fields is made here, so that an analysis, installed ones too, declares a choice once.
"""

from dataclasses import dataclass, field, make_dataclass
from functools import cache
from threading import Lock
from typing import Any, Self

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
_making = Lock()  # a cache alone makes a class for each thread that comes before the first is stored


class NoPage(PageChoices):
    """Before the first page is opened."""

    page_name = ""


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


def kind_of(page: str) -> type[PageChoices]:
    """The choices of a page: one class, also where readers on several threads ask for it at the same moment."""
    if page in ANALYSES:
        analysis = ANALYSES[page]
        with _making:
            return _of_analysis(analysis.name, kinds=(analysis.options, analysis.view))
    return next((kind for kind in PAGES if kind.page_name == page), NoPage)


@cache
def _of_analysis(name: str, kinds: tuple[type[Any], ...]) -> type[AnalysisChoices]:
    own = {
        field_name: (hint, field(default=default(kind, field_name)))
        for kind in kinds
        for field_name, hint in hints(kind).items()
        if field_name != HEAD
    }
    listed = [(field_name, hint, start) for field_name, (hint, start) in own.items()]
    return make_dataclass(name, listed, bases=(AnalysisChoices,), frozen=True, namespace={"page_name": name})
