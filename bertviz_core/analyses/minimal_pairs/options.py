"""The settings of the analysis of minimal pairs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal, Self

from typing_extensions import Doc

from bertviz_core.analyses.base.request import FindStored, Options, Request
from bertviz_core.analyses.minimal_pairs.head_sets import RELATIONS, as_text, listed_heads, stored_sets
from bertviz_core.choices import Label


@dataclass(frozen=True)
class MinimalPairsOptions(Options):
    """What stands in for a head's output, how a masked model scores a sentence, and what is removed together."""

    reads_named_heads: ClassVar[bool] = True
    replace: Annotated[
        Literal["zero", "mean", "uniform"],
        Label("Replace a head by"),
        Doc("What stands in for a head: zeros, its mean output, or uniform attention over what each token sees."),
    ] = "zero"
    score: Annotated[
        Literal["differing", "pll"],
        Label("Score of a sentence"),
        Doc(
            "What a masked model scores: the words that differ, masked together, or every word in turn with its later "
            "pieces masked (pll). Models of next words score all of a sentence."
        ),
    ] = "differing"
    heads: Annotated[
        str | None,
        Label("Set of heads"),
        Doc(
            "A set to remove, beside every single head: heads, counted from 1, as 3-1,4-2; a relation, whose heads a "
            f"stored result names; or {RELATIONS}, the heads of each."
        ),
    ] = None

    def completed(self, request: Request, find: FindStored) -> Request:
        """The request with the heads of the set, or of those that stored results name, and with the corpora on whose
        halves these are chosen."""
        text = (self.heads or "").strip()
        options = {name: value for name, value in request.options.items() if name != "heads"}
        if not text:
            return replace(request, options=options)
        if heads := listed_heads(text):
            for head in heads:
                head.check(request.checkpoint.layers, request.checkpoint.heads)
            return replace(request, options=options | {"heads": ",".join(head.key() for head in heads)})
        stored = stored_sets(find)
        chosen = stored.find(text)
        options |= {"heads": text, "sets": [*map(as_text, chosen)]}
        options["above_baseline"] = [each.name for each in chosen if each.is_found]
        corpora = dict(stored.corpora[each.name] for each in chosen)
        return replace(request, options=options, others=request.others | corpora)

    def alone(self) -> Self:
        return replace(self, heads=None)

    def offered(self, find: FindStored) -> dict[str, Sequence[str]]:
        """The relations for which stored results name heads, and all of them."""
        names = [*stored_sets(find).sets]
        return {"heads": [*names, RELATIONS] if names else []}
