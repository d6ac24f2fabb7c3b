"""Compute the results that ship: every analysis of the samples on the models that ship, in both modes.

    python -m training.sample_results
    python -m training.sample_results --missing

Run it after a change of a model, a sample or an analysis; results that no request asks for any more are removed.
With --missing, those that ship already stay as they are: enough where analyses have got another `key_version`.
The training in bertviz_core/assets/emergence is written by training/sample_emergence.py, and stays as it is.
"""

import argparse
import tempfile
from pathlib import Path

from bertviz_core.analyses.base.registry import ANALYSES, BUILT_IN
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.run.compute import compute_all
from bertviz_core.analyses.run.run_pass import can_compute
from bertviz_core.corpora.files import SAMPLES, sample
from bertviz_core.engine.progress import Progress
from bertviz_core.engine.store import SHIPPED, Store
from bertviz_core.models.checkpoint import SHIPPED_MODELS, find_checkpoint
from bertviz_core.models.loading import load_to_view
from bertviz_core.paper_report.report import ReportRequest
from bertviz_core.settings import MODES, Execution, Settings
from bertviz_core.viewer.preview import compute_preview, preview_key


def requests() -> list[Request]:
    """What the pages ask for when a newcomer opens them, of each model what it allows; and norms, where they are nearly
    free."""
    modes, norms = [Settings(mode=mode) for mode in MODES], Settings(weights="norms")
    asked = [
        Request(analysis, find_checkpoint(model), sample(name), ANALYSES[analysis].relevant(settings))
        for model in SHIPPED_MODELS
        for analysis in BUILT_IN
        for name in SAMPLES[ANALYSES[analysis].corpus]
        for settings in (*modes, *([norms] if ANALYSES[analysis].shared else []))
    ]
    return list(filter(can_compute, asked))


def reports() -> list[ReportRequest]:
    """The report requests whose attention lines ship with the project."""
    corpora = {kind: sample(next(iter(names))) for kind, names in SAMPLES.items()}
    models = map(find_checkpoint, SHIPPED_MODELS)
    return [ReportRequest(model, corpora, Settings(mode=mode)) for model in models for mode in MODES]


def add_previews(store: Store) -> list[str]:
    """Compute the attention that maps preview, of each model; returns the keys."""
    keys = []
    for checkpoint in map(find_checkpoint, SHIPPED_MODELS):
        keys.append(preview_key(checkpoint.fingerprint(), "attention", "float32"))
        store.put(keys[-1], compute_preview(load_to_view(checkpoint), Settings()))
    return keys


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--missing", action="store_true", help="compute only results that do not ship")
    missing = parser.parse_args().missing
    SHIPPED.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder), shipped=SHIPPED if missing else Path(folder))
        compute_all(requests(), store, progress=Progress())
        for report in reports():
            report.compute(store, Execution())
        keys = [request.key() for request in requests()] + [str(report.lines_key(store)) for report in reports()]
        contents = {key: store.get(key) or b"" for key in (*keys, *add_previews(store))}
        for path in SHIPPED.glob("*.safetensors"):
            path.unlink()
        for key, content in contents.items():
            (SHIPPED / f"{key}.safetensors").write_bytes(content)
    print(f"{len(keys)} results, {sum(p.stat().st_size for p in SHIPPED.iterdir()) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
