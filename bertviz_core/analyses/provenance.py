"""What a result was computed from and with."""

from __future__ import annotations

import platform
from typing import Any

from bertviz_core.analyses.request import Request
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.reading import Index
from bertviz_core.version import __version__

CITATION = (
    "Clark, Khandelwal, Levy, Manning (2019). What Does BERT Look At? An Analysis of BERT's Attention. "
    "BlackboxNLP 2019, arXiv:1906.04341."
)


def provenance_of(request: Request, model: AttentionModel, index: Index) -> dict[str, Any]:
    import numpy
    import torch
    import transformers

    checkpoint, others = request.checkpoint, request.others
    return {
        "analysis": request.analysis,
        "model": {
            "name": checkpoint.name,
            "revision": checkpoint.revision,
            "fingerprint": checkpoint.fingerprint(),
            "layers": model.layers,
            "heads": model.heads,
            "parameters": checkpoint.parameters(),
            "causal": model.causal,
            "capture": "inside the layer" if model.observable else "returned maps",
        },
        "corpus": {
            "name": request.source.name,
            "digest": request.source.digest,
            "bytes": request.source.size,
        },
        **index.counts,
        "skipped": index.skipped.to_json(),
        "settings": request.settings.to_json(),
        "options": request.options,
        **({"others": {r: {"name": s.name, "digest": s.digest} for r, s in others.items()}} if others else {}),
        "device": model.device,
        "versions": {
            "bertviz_core": __version__,
            "python": platform.python_version(),
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "numpy": numpy.__version__,
        },
        "citation": CITATION,
    }
