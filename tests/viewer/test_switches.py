"""Names of heads that are switched off."""

from __future__ import annotations

import numpy as np

from bertviz_core.viewer.switches import switched_off, switches

BEHAVIORS = np.array([["next", "other", "to_sep"], ["to_sep", "other", "other"]])


def test_names_are_behaviors_layers_and_heads() -> None:
    named = switches(2, 3, BEHAVIORS)
    assert list(named) == [
        "behavior next token",
        "behavior [SEP]",
        "layer 1",
        "layer 2",
        "1-1",
        "1-2",
        "1-3",
        "2-1",
        "2-2",
        "2-3",
    ]
    assert named["behavior [SEP]"].tolist() == [[False, False, True], [True, False, False]]
    assert named["layer 2"].tolist() == [[False] * 3, [True] * 3]
    assert np.argwhere(named["2-3"]).tolist() == [[1, 2]]


def test_several_names_are_off_together() -> None:
    named = switches(2, 3, BEHAVIORS)
    off = switched_off(["behavior next token", "2-2", "unknown"], named)
    assert off is not None
    assert np.argwhere(off).tolist() == [[0, 0], [1, 1]]
    assert switched_off([], named) is None
    assert switched_off(["unknown"], switches(2, 3)) is None
