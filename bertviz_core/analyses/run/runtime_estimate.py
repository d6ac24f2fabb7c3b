"""How long a pass will take: as long, by the size of its corpus, as the last one of its kind took on this machine."""

import json
import math
from collections.abc import Iterable, Sequence
from contextlib import suppress

from bertviz_core import numbers
from bertviz_core.analyses.base.request import Request
from bertviz_core.corpora import format_detection
from bertviz_core.engine.store import Store
from bertviz_core.errors import BertvizError


def seconds(store: Store, together: Sequence[Request]) -> float | None:
    """Estimated seconds of a pass; None where none of its kind has run here, or the corpus cannot be read."""
    with suppress(BertvizError, ValueError, TypeError):
        if data := store.read(_name(together)):
            loading, a_word = json.loads(data)
            return float(loading + a_word * _words(together[0]))
    return None


def duration(store: Store, groups: Iterable[Sequence[Request]], left: float = 1.0) -> str:
    """The time of all passes, or of the share left, as "about 40 s" or "about 12 min"; "" where one is not known."""
    times = [seconds(store, together) for together in groups]
    if not times or None in times:
        return ""
    length = max(1.0, left * math.fsum(filter(None, times)))
    return f"about {numbers.duration(length)}"


def record(store: Store, together: Sequence[Request], loading: float, running: float) -> None:
    """Store what a pass took, in seconds, for later estimates; nothing happens where the store cannot be written."""
    with suppress(BertvizError):
        store.write(_name(together), json.dumps([loading, running / _words(together[0])]).encode())


def _words(request: Request) -> float:
    """The size of a request's corpus, of which only ratios count; 1 under a limit, which is a part of the name."""
    is_limited = request.settings.limit is not None
    return 1.0 if is_limited else float(format_detection.estimate_word_count(request.source))


def _name(together: Sequence[Request]) -> str:
    """Name in the store of what the last pass of this kind took: seconds of loading, seconds a word."""
    request = together[0]
    names = "+".join(sorted(each.analysis for each in together))
    model = f"{request.checkpoint.layers}x{request.checkpoint.heads}, {request.checkpoint.parameters()}"
    settings = request.settings
    choices = f"{settings.dtype}, {settings.weights}, {settings.max_length}, {settings.limit}"
    options = json.dumps([each.options for each in together if each.options]).replace("/", "")
    return f"pace/{names}/{model}/{choices}/{options}"
