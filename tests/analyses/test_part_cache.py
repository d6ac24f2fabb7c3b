"""Passes in parts: one result, however they are computed; a stopped job goes on from the parts that are kept."""

from dataclasses import replace

import pytest

from bertviz_core.analyses import model_pass, part_cache
from bertviz_core.analyses.chunks import share_done
from bertviz_core.analyses.probes.result import ProbeOptions
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.requests import compute, find
from bertviz_core.corpora.files import sample
from bertviz_core.corpora.source import from_bytes
from bertviz_core.errors import Cancelled
from bertviz_core.settings import Settings
from tests.waiting import Stops

TOKENS = 150
DEV = "\n".join(f"the 2-det\n{word} 3-nsubj\nslept 0-root\n" for word in ("cat", "dog", "mat", "lamp", "river"))
CHOSEN = ("attention-only", "random-attention-only")


def request_of(model, **more) -> Request:
    options = ProbeOptions(probes=CHOSEN, seeds=2, epochs=1).to_json()
    return Request("probes", model.checkpoint, sample("treebank"), Settings(max_length=64, limit=40), options, **more)


def untimed(result) -> bytes:
    """The bytes of the result of a probe without what a clock says."""
    curves = {name: curve | {"seconds": []} for name, curve in result.curves.items()}
    about = result.about | {"map_seconds": 0}
    return replace(result, seconds=0 * result.seconds, curves=curves, about=about).to_bytes()


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(part_cache, "PART_TOKENS", TOKENS)


def test_a_job_that_was_stopped_again_and_again_computes_no_part_twice_and_gives_the_same_bytes(
    tiny, store, monkeypatch
):
    request = request_of(tiny, others={"dev": from_bytes(DEV.encode(), "dev")})
    whole = untimed(compute(request, None, model=tiny))
    computed, shares = [], []
    compute_chunk = model_pass.compute_chunk

    def noted(chunk, requests, **more):
        sums = compute_chunk(chunk, requests=requests, **more)
        computed.append((requests[0].options["maps"], chunk[1][0].number))
        return sums

    monkeypatch.setattr(model_pass, "compute_chunk", noted)
    while find(store, request) is None:
        try:
            result = compute(request, store, model=tiny, progress=Stops(24, "Computing maps"))
        except Cancelled:
            shares.append(share_done(store, request) or 0.0)
    assert untimed(result) == whole
    assert len(shares) > 2 and shares == sorted(shares) and 0 < shares[0] < shares[-1] <= 1
    assert len(computed) == len(set(computed)) and {maps for maps, _ in computed} == {None, 0, 1}
    assert share_done(store, request) is None and not [e for e in store.entries() if e.key.startswith("parts")]
