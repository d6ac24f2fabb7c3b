import json
import time

import pytest

from bertviz_core.engine.progress import Progress


def test_a_stage_counts_and_knows_how_long_it_will_take():
    progress = Progress()
    assert str(progress) == "waiting" and progress.fraction == 0.0 and progress.eta is None
    progress.start("Running", 40)
    progress.advance(1)
    assert str(progress) == "Running: 1 of 40 segments" and progress.eta is None  # within the first second
    assert progress.brief == "2%"
    progress.start("Running", 40)
    progress.started = time.monotonic() - 2.0
    progress.advance(10)
    assert progress.fraction == 0.25
    assert progress.rate == pytest.approx(5, rel=0.1)
    assert progress.eta == pytest.approx(6, rel=0.1)
    assert str(progress).startswith("Running: 10 of 40 segments, 5 per second, about 6 s")
    assert progress.brief == "25%, 5 per s, about 6 s left"


def test_the_passes_to_come_take_as_long_as_those_so_far():
    """Pass 1 of 3 has loaded for 5 seconds and run for 2 at 5 a second; 6 are to go, 13 in all, and 26 after it."""
    progress = Progress()
    progress.start_pass(1, 3, "demo")
    progress.begun -= 7.0
    assert progress.eta is None  # while the model is loaded
    progress.start("Running", 40)
    progress.advance(10)
    assert progress.eta is None  # within the first second
    progress.started -= 2.0
    assert progress.eta == pytest.approx(6 + 26, rel=0.05)
    progress.start_pass(2, 3, "demo")
    progress.begun -= 6.0 + 7.0
    progress.start("Running", 40)
    progress.started -= 2.0
    progress.advance(10)
    assert progress.eta == pytest.approx(6 + (7 + 6 + 7 + 6) / 2, rel=0.05)


def test_another_process_is_shown_all_of_it():
    progress, shown = Progress(), Progress()
    progress.start_pass(3, 4, "step-20")
    progress.begun -= 10.0
    progress.start("Training", 40, "steps")
    progress.started -= 2.0
    progress.losses = [2.5, 1.25]
    progress.advance(10)
    vars(shown).update(json.loads(json.dumps(progress.snapshot())))
    assert str(shown).startswith("Pass 3 of 4 (step-20): Training: 10 of 40 steps, 5 per second")
    assert shown.eta == pytest.approx(progress.eta, rel=0.1)
    assert shown.fraction == progress.fraction == (2 + 0.25) / 4
    assert shown.losses == [2.5, 1.25] and not shown.cancelled.is_set()
