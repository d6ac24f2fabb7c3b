"""Jobs in this process, where patches reach them and no interpreter has to start; through JSON, as to another."""

from __future__ import annotations

import json
from collections.abc import Callable

from bertviz_core.engine.progress import Progress
from bertviz_core.tasks.tasks import Performer, Task


def performer(*_modules: str) -> Callable[[Task, Progress], None]:
    """In place of a `Worker`."""
    keeps_a_model = Performer()
    return lambda task, progress: keeps_a_model.perform(json.loads(json.dumps(task)), progress)
