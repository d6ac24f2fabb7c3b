"""Compute the results that ship: every analysis of the samples on the demo model, in both modes.

    python -m bertviz_core.assets.build

Run it after a change of the demo model, a sample or an analysis; results that no request asks for any more are removed.
The training of the demo model, assets/emergence, is another matter: training/README.md says how it is written.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext

from bertviz_core.analyses.registry import ANALYSES, BUILT_IN
from bertviz_core.corpora.samples import SAMPLES, sample
from bertviz_core.engine.progress import Progress
from bertviz_core.analyses.requests import compute
from bertviz_core.analyses.request import Request
from bertviz_core.engine.store import SHIPPED
from bertviz_core.models.checkpoint import DEMO, find
from bertviz_core.settings import MODES, Settings


class Folder:
    """The part of Store that `compute` writes through, onto the shipped folder."""

    def __init__(self) -> None:
        self.written: set[str] = set()

    def pinned(self, keys: Iterable[str]) -> AbstractContextManager[None]:
        return nullcontext()

    def put(self, key: str, data: bytes) -> None:
        (SHIPPED / f"{key}.safetensors").write_bytes(data)
        self.written.add(f"{key}.safetensors")


def requests() -> list[Request]:
    """What the pages ask for when a newcomer opens them; and norms, where they are nearly free."""
    modes, norms = [Settings(mode=mode) for mode in MODES], Settings(weights="norms")
    return [
        Request(analysis, find(DEMO), sample(name), ANALYSES[analysis].relevant(settings))
        for analysis in BUILT_IN
        for name in SAMPLES[ANALYSES[analysis].corpus]
        for settings in (*modes, *([norms] if ANALYSES[analysis].shared else []))
    ]


def main() -> None:
    SHIPPED.mkdir(exist_ok=True)
    folder = Folder()
    for request in requests():
        if f"{request.key()}.safetensors" not in folder.written:
            compute(request, folder, progress=Progress())  # type: ignore[arg-type]
    for path in SHIPPED.glob("*.safetensors"):
        if path.name not in folder.written:
            path.unlink()
    print(f"{len(folder.written)} results, {sum(p.stat().st_size for p in SHIPPED.iterdir()) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
