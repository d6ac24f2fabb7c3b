"""Play and Pause for a map of heads: the frames run in the browser, the server hears only where it was stopped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pages.shared.components import component


def player(
    frames: Sequence[dict[str, Any]], titles: Sequence[str], at: int, *, map_key: str, key: str,
    on_stop: Callable[[], None],
) -> None:  # fmt: skip
    """Mount the button, and beside it what is shown while it plays.

    Args:
        frames: What of the map's description each frame changes.
        titles: Titles of the frames.
        at: The frame that the map shows now; from the last one it starts again.
        map_key: Key of the map.
        key: Of the component, whose `at` in the session state is the frame where it was stopped.
        on_stop: Called then.
    """
    data = {"frames": list(frames), "titles": list(titles), "at": at, "map": map_key}
    component("player")(data=data, key=key, on_at_change=on_stop, width="content")
