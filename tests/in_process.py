"""Jobs in this process, where patches reach them and no interpreter has to start; through JSON, as to another."""

import json
from collections.abc import Callable

from bertviz_core.analyses.model_pass import LastModelCache
from bertviz_core.engine.progress import Progress
from bertviz_core.tasks.tasks import Task, perform


def worker() -> Callable[[Task, Progress], None]:
    """In place of a `Worker`."""
    models = LastModelCache()
    return lambda task, progress: perform(json.loads(json.dumps(task)), progress, models)
