"""Results: to bytes and back without loss or pickle; bytes of anything else are refused."""

import pickle
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertviz_core.analyses.base.averages import TOP
from bertviz_core.analyses.base.result import Result, renamed
from bertviz_core.analyses.entropy.result import Entropy
from bertviz_core.analyses.surface_patterns.result import SurfacePatterns

COUNTS = np.array([3, 0]), np.array([2.5, np.nan]), "documents"


def example_result(kind=Entropy) -> Entropy:
    """With arrays in several memory orders."""
    rng = np.random.default_rng(0)
    mean = np.asfortranarray(rng.random((2, 3, 4)))
    mean[1] = np.nan
    top, values = rng.integers(0, 9, (2, 3, 4, TOP)), rng.random((2, 3, 4, TOP))[..., ::-1]
    texts = {"3": {"where": "line 7", "tokens": ["[CLS]", "größer", "🙂", "[SEP]"]}}
    return kind({"note": "Ü", "none": None}, ["a", "b"], mean, mean / 9, np.array([5, 0]), *COUNTS, top, values, texts)


def test_everything_comes_back():
    before = example_result()
    after = Entropy.from_bytes(before.to_bytes())
    for name in ("mean", "error", "segments", "units", "effective_units", "top", "top_values"):
        one, other = getattr(before, name), getattr(after, name)
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype
    assert (after.quantities, after.texts, after.provenance) == (before.quantities, before.texts, before.provenance)


WHOLE = example_result().to_bytes()


@given(
    st.integers(0, len(WHOLE) - 1).map(lambda length: WHOLE[:length])
    | st.binary(max_size=100)
    | st.sampled_from(
        [
            pickle.dumps(example_result().mean),
            example_result(SurfacePatterns).to_bytes(),  # of another analysis
            WHOLE.replace(b'"top_values"', b'"low_values"'),  # of an older shape
        ]
    )
)
def test_bytes_of_anything_else_are_refused(data):
    with pytest.raises((ValueError, KeyError, TypeError)):
        Entropy.from_bytes(data)


@dataclass(frozen=True)
class Named(Result):
    """A result with a file named in its own JSON too, as that of the probes."""

    analysis: ClassVar[str] = "named"
    about: dict[str, Any]

    def arrays(self) -> dict[str, Any]:
        return {}

    def to_frame(self) -> Any:
        return None


def test_a_result_takes_its_readers_names() -> None:
    origin = {
        "model": {"name": "/home/ann/model", "revision": None, "layers": 2},
        "corpus": {"name": "ann.txt", "digest": "1" * 64, "bytes": 3},
        "others": {"vectors": {"name": "ann.vec", "digest": "2" * 64}, "dev": {"name": "dev.txt", "digest": "3" * 64}},
        "tokens": 7,
    }
    result = Named(origin, {"vectors": {"name": "ann.vec", "dimension": 3}, "test": {"words": 4}})
    bens = renamed(result, {"1" * 64: "ben.txt", "2" * 64: "ben.vec"}, {"name": "tiny", "revision": "main"})
    assert bens.provenance == origin | {
        "model": {"name": "tiny", "revision": "main", "layers": 2},
        "corpus": {"name": "ben.txt", "digest": "1" * 64, "bytes": 3},
        "others": {"vectors": {"name": "ben.vec", "digest": "2" * 64}, "dev": {"name": "dev.txt", "digest": "3" * 64}},
    }
    assert bens.about == {"vectors": {"name": "ben.vec", "dimension": 3}, "test": {"words": 4}}
    assert "ann" not in str(bens) and "ann.txt" in str(result)
    assert renamed(result, {"1" * 64: "ann.txt"}) is result
