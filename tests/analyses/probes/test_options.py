"""Options of the probes: wrong ones are refused, and defaults are no part of a result's key."""

import pytest

from bertviz_core.analyses.probes.options import PROBES, ProbeOptions
from bertviz_core.errors import SettingsError


def test_plans_are_checked_and_defaults_are_no_options():
    assert ProbeOptions().to_json() == {}
    plan = ProbeOptions(("structural", "attention-only"), 3, 8)
    assert plan.to_json() == {"probes": ["attention-only", "structural"], "epochs": 3, "rank": 8}
    assert ProbeOptions(PROBES[::-1]).to_json() == {}
    for wrong in (ProbeOptions(("parser",)), ProbeOptions(rank=0), ProbeOptions(optimizer="sgd")):
        with pytest.raises(SettingsError):
            wrong.check()
