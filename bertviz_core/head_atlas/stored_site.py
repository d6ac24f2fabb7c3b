"""The site of one model as a ZIP in the store, which a job writes and a page offers."""

import hashlib
import json

from bertviz_core.analyses.base.request import FORMAT
from bertviz_core.engine.progress import Progress
from bertviz_core.engine.store import Store
from bertviz_core.head_atlas import site
from bertviz_core.head_atlas.contents import LoadModel, requested_contents
from bertviz_core.paper_report.report import ReportRequest
from bertviz_core.version import __version__


def name_of(request: ReportRequest, store: Store) -> str | None:
    """The name of its entry in the store, which follows from the stored results and from this reader's names of the
    model and the corpora; None where no result is stored."""
    keys = [key for key in (each.key() for each in request.requests()) if store.has(key)]
    names = [request.checkpoint.name, *(f"{kind} {source.name}" for kind, source in request.corpora.items())]
    if not keys:
        return None
    digest = hashlib.sha256(json.dumps(["atlas", FORMAT, __version__, keys, names]).encode()).hexdigest()
    return f"detail/{digest}/atlas"


def compute(request: ReportRequest, store: Store, progress: Progress, load: LoadModel) -> None:
    """Write the site of what is stored, and store it; nothing where no result is."""
    if name := name_of(request, store):
        contents = requested_contents(request, store, load)
        store.write(name, site.zipped(site.files([contents], progress)))
