"""The analyses, one module each, named as their pages, figures, tests and commands are.

A module `analyses/NAME/measure.py` has

    accumulator(model, request) -> Accumulator             what one pass feeds
    finish(accumulator, examples, provenance) -> Result    what is stored, shown and exported

and, where a plain forward pass is not enough, `run(model, examples, accumulators, progress, batch_tokens)` in place
of the engine's. Importing a module, and reading a stored result with it, imports no torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

Kind = Literal["text", "treebank", "coreference"]


@dataclass(frozen=True, slots=True)
class Analysis:
    """`result` names the Result class in the module; `corpus` is the kind of corpus that is read.

    shared: analyses of the same kind that are so cheap beside the forward pass that they are always done together.
    masked_lm: the model is needed with the head that predicts masked words.
    """

    name: str
    result: str
    corpus: Kind
    shared: bool = False
    masked_lm: bool = False

    @property
    def module(self) -> Any:
        return import_module(f"bertviz_core.analyses.{self.name}.measure")

    @property
    def result_class(self) -> Any:
        return getattr(self.module, self.result)

    def together(self) -> list[Analysis]:
        """The analyses that one pass computes when this one is asked for."""
        others = [other for other in ANALYSES.values() if other.shared and other.corpus == self.corpus]
        return others if self.shared else [self]


ANALYSES = {
    analysis.name: analysis
    for analysis in (
        Analysis("surface_patterns", "SurfacePatterns", "text", shared=True),
        Analysis("entropy", "Entropy", "text", shared=True),
        Analysis("sep_gradients", "SepGradients", "text", masked_lm=True),
        Analysis("dependency_heads", "DependencyHeads", "treebank"),
        Analysis("coreference_heads", "CoreferenceHeads", "coreference"),
        Analysis("probes", "Probes", "treebank"),
        Analysis("clustering", "Clustering", "text"),
    )
}


def examples_class(kind: Kind) -> Any:
    """(source, tokens, settings) -> iterable of encoded examples with `left_out` and `counts()`."""
    from bertviz_core.models.segments import Segments
    from bertviz_core.models.sentences import Sentences
    from bertviz_core.models.windows import Windows

    return {"text": Segments, "treebank": Sentences, "coreference": Windows}[kind]
