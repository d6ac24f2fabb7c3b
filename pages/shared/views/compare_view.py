"""The choice of two stored runs, the head that changed most, and their maps side by side."""

from operator import itemgetter

from bertviz_core.analyses.base.blocks import Block
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Provenance, Result
from bertviz_core.comparison import figure
from bertviz_core.comparison.change import differences, worded
from bertviz_core.comparison.result import Comparison, checkpoint_names, checkpoint_result
from bertviz_core.corpora.files import SAMPLES, sample
from bertviz_core.heads import Head, all_heads
from bertviz_core.models import model_sources
from bertviz_core.models.checkpoint import DEMO, SHIPPED_MODELS, Checkpoint, label_of, short_names
from bertviz_core.settings import Settings
from pages.shared import services, uploads, widgets
from pages.shared.costly import compare, shipped
from pages.shared.memoize import memoized
from pages.shared.state import session
from pages.shared.state.choices import CompareChoices
from pages.shared.state.runs import Run, Runs
from pages.shared.state.selection import Selection
from pages.shared.views import missing_runs

result_at = memoized(checkpoint_result)

FURTHER_FILES = ("treebank", "vectors")  # that probes take beside their treebank


def known_runs(selection: Selection) -> Runs:
    """The runs that can be compared, two at least of each analysis; a training with two ships."""
    runs = {name: _runs(name, selection.checkpoint) for name in ANALYSES}
    return {name: names for name, names in runs.items() if len(names) > 1}


def draw_choice(runs: Runs, analysis: str, a: str, b: str) -> None:
    """Draw the choice of an analysis and of two of its runs; B may be one that is not computed yet."""
    stored_names = {address: run.name for address, run in runs[analysis].items()}
    elsewhere = {address: run.name for listed in runs.values() for address, run in listed.items()}
    offered = {each.address: each.name for each in missing_runs.counterparts(a)}
    widgets.select("Analysis", [*runs], "analysis", analysis, format_func=lambda name: ANALYSES[name].title, width=175)
    for title, field, address, more in (("A", "a", a, {}), ("B", "b", b, offered)):
        own = {address: elsewhere.get(address, label_of(address.partition("=")[2]))}
        missing = {key: f"{name} (not computed)" for key, name in (own | more).items() if key not in stored_names}
        names = stored_names | missing
        widgets.select(title, [*names], field, address, format_func=names.__getitem__, width=225)


def find_comparison(analysis: str, a: str, b: str) -> Comparison | None:
    """The comparison of two runs, by their addresses; None where one is no longer stored."""
    first = _result(analysis, a)
    second = _result(analysis, b)
    return None if first is None or second is None else compare(first, second)


@memoized
def on(comparison: Comparison, key: str) -> Comparison:
    """`Comparison.on`."""
    return comparison.on(key)


@memoized
def blocks_of(comparison: Comparison) -> list[Block]:
    """What is shown of a comparison."""
    return [*figure.blocks(comparison)]


def default_head(selection: Selection) -> Head | None:
    """The head that changed most in what the page shows, if the chosen model has such a head."""
    chosen = session.page(CompareChoices)
    comparison = find_comparison(*chosen.chosen_runs(known_runs(selection)))
    if comparison is None or not comparison.changes:
        return None
    changed = comparison.changes[chosen.quantity_of(comparison)].by_size()
    model = selection.checkpoint
    known = set(all_heads(model.layers, model.heads))
    return next((head for head in changed if head in known), None)


def _runs(analysis: str, chosen: Checkpoint) -> dict[str, Run]:
    """Address -> run, of the runs that this reader may see: those of the chosen model first, then of the demo model,
    with default settings first, and vector lengths last; then checkpoints of the training that ships."""
    corpora = _corpora(analysis)
    access = services.access()
    models = None if access.folders is None else {*SHIPPED_MODELS, *model_sources.models(access)}
    stored_runs = services.runs()
    names = short_names(sorted({run.provenance["model"]["name"] for run in stored_runs}))
    ranked = []
    for run in (each for each in stored_runs if each.analysis == analysis):
        origin = run.provenance
        model = origin["model"]
        settings = origin["settings"]
        inputs = [origin["corpus"], *origin.get("others", {}).values()]
        digests = [each["digest"] for each in inputs]
        is_visible = corpora.keys() >= set(digests) and (models is None or model["name"] in models)
        if is_visible:
            described = _described(origin, names[model["name"]], corpora)
            is_other = model["fingerprint"] != chosen.fingerprint()
            is_changed = settings != Settings().to_json() or bool(origin["options"])
            is_norms = settings["weights"] == "norms"
            rank = is_other, model["name"] != DEMO, is_changed, is_norms, settings["mode"] == "paper", described.name
            ranked.append((rank, run.key[:16], described))
    ranked.sort(key=itemgetter(0))
    runs = {run_address: described for _, run_address, described in ranked}
    steps = checkpoint_names(shipped(), analysis)
    return runs | {run_address: Run(name, model=run_address) for run_address, name in steps.items()}


def _corpora(analysis: str) -> dict[str, str]:
    """Digest -> name of the corpora that this reader may see: samples and uploads, expired ones too."""
    corpus = ANALYSES[analysis].corpus
    visible = [upload for kind in (corpus, *FURTHER_FILES) for upload in uploads.visible(kind).values()]
    names = {upload.digest: upload.name for upload in reversed(visible)}  # The earliest upload's name wins.
    return names | {source.digest: source.name for source in map(sample, SAMPLES[corpus])}


def _described(origin: Provenance, model: str, corpora: dict[str, str]) -> Run:
    corpus = origin["corpus"]["digest"]
    samples = {sample(name).digest for name in SAMPLES[ANALYSES[origin["analysis"]].corpus]}
    settings = frozenset((name, str(value)) for name, value in (origin["settings"] | origin["options"]).items())
    return Run(
        name=_name(origin, model, corpora),
        model=origin["model"]["fingerprint"],
        settings=settings,
        corpus=corpus,
        is_sample=corpus in samples,
    )


def _name(origin: Provenance, model: str, corpora: dict[str, str]) -> str:
    """The model, what differs from the defaults, and the corpus, as in "demo, norms on encyclopedia"."""
    defaults = origin | {"settings": Settings().to_json(), "options": {}, "others": {}}
    parts = [model]
    for part, (_, (identity, value)) in differences(defaults, origin).items():
        parts.append(worded(part, corpora.get(identity, value)))
    return f"{', '.join(parts)} on {corpora[origin['corpus']['digest']]}"


def _result(analysis: str, run_address: str) -> Result | None:
    training = shipped()
    if run_address in checkpoint_names(training, analysis):
        return result_at(training, analysis, run_address)
    key = next((run.key for run in services.runs() if run.analysis == analysis and run.key.startswith(run_address)), "")
    return services.lookup(key, analysis, _corpora(analysis)) if key else None
