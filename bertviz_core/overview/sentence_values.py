"""The numbers that decide behaviors, of one input: beside those of a corpus they say whether a head does here what it
does elsewhere."""

from collections.abc import Mapping

import numpy as np

from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.behaviors import QUANTITIES
from bertviz_core.corpora.source import from_bytes
from bertviz_core.engine.forward_pass import run
from bertviz_core.engine.progress import Progress
from bertviz_core.inputs.encoding import Encoded
from bertviz_core.models.model import AttentionModel, with_weights
from bertviz_core.settings import Settings

# From a quantity of behaviors to its (layer, head) values; NaN where a head has none.
SentenceValues = Mapping[str, np.ndarray]


def sentence_values(model: AttentionModel, example: Encoded, settings: Settings) -> dict[str, np.ndarray]:
    """(layer, head) values of one input, by QUANTITIES, as the analyses compute those of a segment (docs/methods.md,
    sections 2 and 4)."""
    from bertviz_core.analyses.base.accumulators import SegmentSums

    source = from_bytes(b"", "sentence")
    observed = with_weights(model, settings.weights)
    requests = [
        Request(name, model.checkpoint, source, settings)
        for name, analysis in ANALYSES.items()
        if analysis.corpus == "text" and {*analysis.behaviors} & {*QUANTITIES}
    ]
    sums = [ANALYSES[request.analysis].accumulator(observed, request) for request in requests]
    run(observed, [example], sums, Progress())
    values = dict[str, np.ndarray]()
    for each in sums:
        assert isinstance(each, SegmentSums), "behaviors are decided by averages"
        found = each.result()
        values |= dict(zip(found["quantities"], found["mean"], strict=True))
    return {name: values[name] for name in QUANTITIES if name in values}
