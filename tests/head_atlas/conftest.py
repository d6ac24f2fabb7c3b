"""A small site: two of the decoder's results, without a model, of a corpus whose name is hostile."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bertviz_core.analyses.base.result import renamed
from bertviz_core.corpora.files import sample
from bertviz_core.engine.progress import Progress
from bertviz_core.engine.store import Store
from bertviz_core.head_atlas import site
from bertviz_core.head_atlas.contents import ModelContents
from bertviz_core.models.checkpoint import DEMO_DECODER, find_checkpoint
from bertviz_core.paper_report.report import Report
from bertviz_core.settings import Settings
from tests.support import shipped

HOSTILE = "</script><script>alert(1)</script>\"'"


@pytest.fixture(scope="session")
def contents(tmp_path_factory: pytest.TempPathFactory) -> ModelContents:
    names = {sample("encyclopedia").digest: HOSTILE}
    results = {
        name: renamed(shipped.result(name, DEMO_DECODER), names)
        for name in ("surface_patterns", "entropy", "dependency_heads")
    }
    checkpoint = find_checkpoint(DEMO_DECODER)
    missing = {"reach": f"No corpus: {HOSTILE}"}
    report = Report(checkpoint, results, missing, Settings(), ())
    return ModelContents(checkpoint, results, report, Store(tmp_path_factory.mktemp("store")), None)


@pytest.fixture(scope="session")
def folder(contents: ModelContents, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    site.write(out, site.files([contents], Progress()))
    return out


@pytest.fixture(scope="session")
def read(folder: Path) -> Callable[[str], str]:
    return lambda path: (folder / path).read_text("utf-8")
