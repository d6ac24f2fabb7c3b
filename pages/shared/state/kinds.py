"""The kind of choices that each page has, by the name of the page."""

from functools import cache

from pages.shared.state.analysis_choices import (
    AblationChoices,
    AnalysisChoices,
    ClusteringChoices,
    CoreferenceHeadsChoices,
    DependencyHeadsChoices,
    EntropyChoices,
    ProbesChoices,
    ReachChoices,
    SepGradientsChoices,
    SurfacePatternsChoices,
)
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
    *(SurfacePatternsChoices, EntropyChoices, ReachChoices, SepGradientsChoices, DependencyHeadsChoices),
    *(CoreferenceHeadsChoices, ProbesChoices, ClusteringChoices, AblationChoices),
)


@cache
def kind_of(page: str) -> type[PageChoices]:
    """The choices of a page; those of every analysis where its page adds none, as that of an installed analysis."""
    for kind in PAGES:
        if kind.page == page:
            return kind
    return type(page, (AnalysisChoices,), {"page": page})
