"""All analyses by name: the built-in ones, then those of installed packages."""

import logging
import re
from importlib.metadata import entry_points

from bertviz_core.analyses.ablation.analysis import AblationAnalysis
from bertviz_core.analyses.base.analysis import Analysis, Kind
from bertviz_core.analyses.base.findings import Finding
from bertviz_core.analyses.base.result import Results
from bertviz_core.analyses.clustering.analysis import ClusteringAnalysis
from bertviz_core.analyses.coreference_heads.analysis import CoreferenceAnalysis
from bertviz_core.analyses.dependency_heads.analysis import DependencyAnalysis
from bertviz_core.analyses.entropy.analysis import EntropyAnalysis
from bertviz_core.analyses.induction.analysis import InductionAnalysis
from bertviz_core.analyses.probes.analysis import ProbesAnalysis
from bertviz_core.analyses.sep_gradients.analysis import SepGradientsAnalysis
from bertviz_core.analyses.surface_patterns.analysis import SurfacePatternsAnalysis
from bertviz_core.inputs import annotated_words, encoding, segments

CLASSES: tuple[type[Analysis], ...] = (
    SurfacePatternsAnalysis,
    EntropyAnalysis,
    SepGradientsAnalysis,
    DependencyAnalysis,
    CoreferenceAnalysis,
    ProbesAnalysis,
    ClusteringAnalysis,
    AblationAnalysis,
    InductionAnalysis,
)
BUILT_IN = {analysis.name: analysis() for analysis in CLASSES}
EXAMPLES: dict[Kind, type[annotated_words.EncodedCorpus[encoding.Encoded]]] = {  # the reader of corpora of each kind
    "text": segments.Segments,
    "treebank": annotated_words.Sentences,
    "coreference": annotated_words.Windows,
    "random": segments.RandomSequences,
}
ENTRY_POINT = "bertviz_core.analyses"
# Names that an installed analysis cannot have
PAGES = ("overview", "attention_viewer", "compare", "emergence", "tour")
COMMANDS = ("overview", "compare", "emergence", "attention", "segments", "extract", "treebank", "store", "report")
log = logging.getLogger(__name__)


def _all() -> dict[str, Analysis]:
    """The built-in analyses and those of packages; one that cannot be loaded or named is logged and skipped."""
    analyses = dict(BUILT_IN)
    for entry in entry_points(group=ENTRY_POINT):
        try:
            analysis = entry.load()()
            if not isinstance(analysis, Analysis):
                raise TypeError("not a class of Analysis")
            is_taken = analysis.name in (*analyses, *PAGES) or analysis.command in COMMANDS
            if is_taken or not re.fullmatch(r"[a-z][a-z0-9_]*", analysis.name):
                raise ValueError(f"choose another name than {analysis.name!r}, of a-z, 0-9 and _")
            if analysis.result_class.analysis != analysis.name:
                raise ValueError(f"give its result_class a class attribute analysis = {analysis.name!r}")
            analyses[analysis.name] = analysis
        except Exception:
            log.exception("The analysis %s of %s cannot be used.", entry.name, entry.value)
    return analyses


ANALYSES = _all()


def label(quantity: str) -> str:
    """Name on the screen of a quantity of surface patterns or entropy, which several analyses show."""
    return ANALYSES["entropy"].label(ANALYSES["surface_patterns"].label(quantity))


def findings(results: Results, base: int = 1) -> list[Finding]:
    """Every finding on one model's results, including missing ones, by section of the paper, others last."""
    listed: list[Finding] = []
    for name, analysis in ANALYSES.items():
        listed += analysis.findings(results.get(name), base)
    return sorted(listed, key=lambda finding: finding.section or "beyond")
