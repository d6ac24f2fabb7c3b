"""The attention of every head on a few tokens, as it is sent with a map of heads for the browser to draw."""

import base64
import json
from collections.abc import Sequence
from math import isqrt

import numpy as np

from bertviz_core.text_display import cut_end

MAX_TOKENS = 24  # the longest inputs and sentences that are drawn small
MAX_WEIGHTS = 500_000  # weights of all heads, a byte each: 9 tokens for 80 x 64 heads, 22 for 32 x 32


def encoded(tokens: Sequence[str], maps: np.ndarray, about: str, part: str = "") -> bytes:
    """A preview as JSON for the browser; maps are (layer, head, query, key) uint8, 255 for weight 1. `part` says which
    of an input's tokens they are, unless all."""
    # Only the first tokens are drawn, because the preview is sent again whenever a head is chosen.
    first = slice(most_tokens(*maps.shape[:2]))
    packed = base64.b64encode(maps[:, :, first, first].tobytes()).decode()
    drawn = {"tokens": [*map(cut_end, tokens[first])], "maps": packed, "about": about, "part": part}
    return json.dumps({"preview": drawn}).encode()


def most_tokens(layers: int, heads: int) -> int:
    """The number of tokens of a preview for so many heads, beside MAX_TOKENS."""
    return isqrt(MAX_WEIGHTS // layers // heads)
