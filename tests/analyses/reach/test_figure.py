"""What figures show of reach, and what its findings say: on a result of the planted model."""

from dataclasses import replace

import numpy as np
import pytest

from bertviz_core.analyses.base.findings import ABSENT, SHOWN
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.reach.figure import acts_figure, offsets_figure, pair_svg, paper_figure
from bertviz_core.analyses.reach.result import ALL_ZERO, NOT_KNOWN, OFFSETS, Act
from bertviz_core.analyses.run.compute import compute
from bertviz_core.heads import Head
from bertviz_core.models.checkpoint import find_checkpoint
from bertviz_core.settings import Settings

PREVIOUS, NEXT, TO_SEP = Head(0, 0), Head(1, 0), Head(1, 1)


@pytest.fixture(scope="module")
def planted(planted_folder):
    from bertviz_core.corpora.source import from_bytes

    lines = [f"the {word} sat on the mat and {word} slept .\nit was a {word} .\n" for word in "abcdefghijkl"]
    text = from_bytes("\n".join(lines).encode(), "planted.txt")
    return compute(Request("reach", find_checkpoint(str(planted_folder)), text, Settings(max_length=32)), None)


def test_findings_name_the_planted_heads(planted):
    by_name = {finding.id.partition(".")[2]: finding for finding in ANALYSES["reach"].findings(planted)}
    assert by_name["near"].head in (PREVIOUS, NEXT)
    assert by_name["sink"].state == SHOWN and by_name["sink"].head == TO_SEP
    assert "on [SEP] in 100% of the inputs" in by_name["sink"].sentence
    assert by_name["inactive"].state == ABSENT, "planted heads pass nothing on"


def test_most_attention_of_the_head_to_the_previous_token_is_one_token_away(planted):
    figure = offsets_figure(planted, PREVIOUS)
    line = figure.data[-1]
    assert line.x[int(np.argmax(line.y))] == "-1" and len(line.x) == len(OFFSETS)
    assert np.sum(line.y) == pytest.approx(1, abs=1e-5)


def test_every_input_is_in_one_tenth(planted):
    bars = acts_figure(planted, PREVIOUS).data[0]
    assert sum(bars.y) == planted.provenance["segments"]
    kept = [act for tenth in range(10) for act in planted.acts(PREVIOUS, tenth)]
    assert kept and all(act.query == act.key + 1 for act in kept)


def test_layers_have_a_panel_for_each_kind_of_number(planted):
    titles = [note.text for note in paper_figure(planted).layout.annotations]
    assert {"Mean distance, tokens", "Sink rate"} <= {*titles} and "dashed: inactive below 0.5" not in titles
    assert f"dashed: uniform attention, all tokens {planted['uniform'][0, 0]:.3g}" in titles
    assert ALL_ZERO in planted.absence
    maps_alone = planted.provenance | {"model": planted.provenance["model"] | {"capture": "returned maps"}}
    assert NOT_KNOWN in replace(planted, provenance=maps_alone).absence


def test_a_pair_is_drawn_with_its_context_and_escaped():
    tokens = [f"w{number}" for number in range(20)]
    tokens[9] = "<b>"
    svg = pair_svg(Act(0, 0.5, 10, 9, "line 1", tokens))
    assert "&lt;b&gt;" in svg and "<b>" not in svg
    assert "w5" in svg and "w14" in svg and "w4<" not in svg and "w15" not in svg


def test_tables_hold_offsets_and_acts_of_every_head(planted):
    tables = planted.tables()
    assert len(tables["offsets"]) == len(OFFSETS) * planted["distance"].size
    assert tables["acts"]["inputs"].sum() == planted.act_counts.sum()
