"""The base class of results: arrays with named axes, their provenance and their tables, serialized without pickle."""

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, ParamSpec, Self, TypeVar, cast

import numpy as np
import pandas as pd

from bertviz_core.analyses.base.statistics import Estimate
from bertviz_core.choices import Choices
from bertviz_core.engine.packing import metadata_of, pack, unpack
from bertviz_core.heads import all_keys, first_number
from bertviz_core.models.checkpoint import label_of
from bertviz_core.numbers import plural

if TYPE_CHECKING:
    from bertviz_core.analyses.base.guess_lists import StoredParts

# What the size of a corpus is counted in.
UNITS = ("documents", "segments", "sequences", "sentences", "windows", "pairs", "words", "tokens")
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # the last as wide as Chinese letters are
Provenance = dict[str, Any]  # JSON, see `Result.provenance`


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Result:
    """A frozen record of numpy arrays and JSON values. Tables and figures show its `default_view`: itself, unless it
    has several views.

    Attributes:
        analysis: The name of the analysis that computes results of this class.
        provenance: What it was computed from and how: the model, the corpus and its size, the settings and options,
            what was skipped, and the versions of libraries.
        chosen: What a reader has chosen of it, without None; None where nothing is chosen. It is not stored.
    """

    analysis: ClassVar[str]
    provenance: Provenance
    chosen: Choices | None = field(default_factory=lambda: None, init=False, compare=False, repr=False)

    def arrays(self) -> dict[str, Any]:
        """The part "arrays" of JSON exports: each quantity by its name, axes (layer, head)."""
        return self.default_view().arrays()

    def to_frame(self) -> pd.DataFrame:
        """A tidy table, a row for each head, relation or group of mentions."""
        return self.default_view().to_frame()

    def tables(self) -> dict[str, pd.DataFrame]:
        """Further tidy tables by name, with the numbers that the table of `to_frame` summarizes."""
        return {}

    def estimates(self) -> dict[str, Estimate]:
        """Quantities of each head with their uncertainty, by name; without any, the columns are compared."""
        return {}

    def summary(self) -> dict[str, Any]:
        """Further parts of JSON exports, beside "arrays" and "table"."""
        return {}

    @property
    def units_text(self) -> str:
        """The units of the 95% intervals, as "38 documents"; empty where each word counts for itself."""
        return ""

    @property
    def notes(self) -> list[str]:
        """Notes that a reader needs to interpret the numbers."""
        intervals = f"95% intervals are over {self.units_text}." if self.units_text else ""
        return [note for note in (intervals, self.restriction) if note]

    @property
    def restriction(self) -> str:
        """What the numbers leave out because of a causal mask; empty where nothing is missing."""
        return ""

    @property
    def runs(self) -> dict[str, Provenance]:
        """Provenance of each run, keyed by a description of its numbers."""
        return {"these numbers": self.provenance}

    @property
    def choices(self) -> dict[str, Any]:
        """What a reader has chosen of it, by name, as a relation or a head; empty where nothing is chosen."""
        return dict(self.provenance.get("chosen", {}))

    @property
    def is_whole(self) -> bool:
        """Whether it has all of its lists, none of which is stored beside it."""
        return True

    def with_lists(self, lists: "StoredParts | None") -> Self:
        """The same with the lists that are stored beside it, from `guess_lists.stored_parts`, where it reads any."""
        return self

    def file_parts(self) -> tuple[str, ...]:
        """Parts of its file names: the analysis, the model, the corpus."""
        return self.analysis, label_of(self.provenance["model"]["name"]), self.provenance["corpus"]["name"]

    def default_view(self) -> "Result":
        """What tables and figures show until something is chosen."""
        return self

    def to_bytes(self) -> bytes:
        """safetensors, with everything but the arrays as JSON in its header."""
        stored = [each.name for each in fields(self) if each.name != "chosen"]
        return pack({name: getattr(self, name) for name in stored}, analysis=self.analysis)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read a result that `to_bytes` wrote; raises ValueError, KeyError or TypeError for other bytes."""
        analysis = metadata_of(data)["analysis"]
        if analysis != cls.analysis:
            raise ValueError(f"a result of {analysis}, not of {cls.analysis}")
        return cls(**unpack(data))


Results = Mapping[str, Result]  # results by the name of their analysis
R = TypeVar("R", bound=Result)
P = ParamSpec("P")
T = TypeVar("T")


def choosing(result: R, view: Choices | None = None, **choices: object) -> R:
    """A result with what a reader has chosen of it: as a view, and in JSON types, as its files say it."""
    changed = replace(result, provenance=result.provenance | {"chosen": choices})
    object.__setattr__(changed, "chosen", view)  # no argument of the class, since no stored result has it
    return changed


def cached_on_result(work: Callable[Concatenate[R, P], T]) -> Callable[Concatenate[R, P], T]:
    """Decorate a function of a result whose values are kept beside the result, as long as that is alive.

    Its other arguments are hashable, and no caller may change a value. A value may have labels of heads, so that
    readers who count from 0 and from 1 share none.
    """

    @wraps(work)
    def cached(result: R, /, *arguments: P.args, **options: P.kwargs) -> T:
        values: dict[Hashable, T] = vars(result).setdefault("_kept", {})
        key = (work, first_number(), arguments, *options.items())
        if key not in values:
            values[key] = work(result, *arguments, **options)
        return values[key]

    return cached


def result_of(results: Results, result_class: type[R]) -> R:
    """The default view of the result of an analysis, which is of this class; raises KeyError where there is none."""
    return cast(R, results[result_class.analysis].default_view())


def describe_header(head: bytes) -> tuple[str, dict[str, Any]] | None:
    """(analysis, provenance) of a stored result's safetensors header; None where it is damaged."""
    with suppress(ValueError, KeyError, TypeError):
        metadata = json.loads(head)["__metadata__"]
        return metadata["analysis"], json.loads(metadata["json"])["provenance"]
    return None


def renamed(result: Result, corpora: Mapping[str, str], model: Mapping[str, Any] | None = None) -> Result:
    """Give a result its reader's names of the corpora and of the model.

    Equal files share one stored result, which must not reveal another user's names of them.

    Args:
        result: The stored result.
        corpora: From the digest of a file to its reader's name of it.
        model: Fields of the model in the provenance that replace the stored ones; None for the stored ones.
    """

    def named(file: dict[str, Any]) -> dict[str, Any]:
        return file | {"name": corpora.get(file["digest"], file["name"])}

    before = result.provenance
    others = {role: named(file) for role, file in before.get("others", {}).items()}
    changed = before | {"corpus": named(before["corpus"]), "model": before["model"] | dict(model or {})}
    if others:
        changed["others"] = others
    if "read" in before:  # A training says what was read of each corpus.
        changed["read"] = [each | {"corpus": named(each["corpus"])} for each in before["read"]]
    if changed == before:
        return result
    changes: dict[str, Any] = {"provenance": changed}
    about = getattr(result, "about", {})
    if "vectors" in about and "vectors" in others:  # Probes hold the name of their file of vectors twice.
        changes["about"] = about | {"vectors": about["vectors"] | {"name": others["vectors"]["name"]}}
    return replace(result, **changes)


def corpus_size(provenance: Provenance) -> str:
    """The size of the corpus, as "64 documents, 126 segments, 15,682 tokens"."""
    return ", ".join(plural(provenance[unit], unit) for unit in UNITS if unit in provenance)


def origin(provenance: Provenance) -> dict[str, Any]:
    """Provenance in a few flat fields, for tables and captions; of each further file its name and its digest, and what
    is chosen of the result as "chosen_relation"."""
    settings = provenance["settings"]
    others = {}
    for role, file in provenance.get("others", {}).items():
        others[role] = file["name"]
        others[f"{role}_digest"] = file["digest"][:16]
    return {
        "model": provenance["model"]["name"],
        "model_fingerprint": provenance["model"]["fingerprint"][:16],
        "corpus": provenance["corpus"]["name"],
        "corpus_digest": provenance["corpus"]["digest"][:16],
        **{name: settings[name] for name in ("mode", "weights", "max_length", "limit", "seed", "dtype")},
        **provenance["options"],
        **{f"chosen_{name}": value for name, value in provenance.get("chosen", {}).items()},
        **others,
        "bertviz_core": provenance["versions"]["bertviz_core"],
        "citation": provenance["citation"],
    }


def csv_bytes(frame: pd.DataFrame) -> bytes:
    """A table as CSV. An apostrophe before a text such as "=" keeps spreadsheets from reading it as a formula."""

    def safe(cell: object) -> object:
        return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell

    texts = frame.select_dtypes(exclude=["number", "bool"]).astype(object).map(safe)
    escaped = frame.assign(**texts.to_dict("series")).rename(columns=safe)
    return escaped.to_csv(index=False).encode("utf-8", "replace")


def to_lists(array: np.ndarray) -> Any:
    """An array of any shape as nested lists for JSON, null for NaN."""
    values = array.astype(object)
    if array.dtype.kind == "f":
        values[np.isnan(array)] = None
    return values.tolist()


def head_frame(columns: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """A row for each head, from arrays with axes (layer, head): its label, layer and head from 1, and the columns; no
    row where there is no array."""
    shape = next((values.shape for values in columns.values()), (0, 0))
    layer, head = np.indices(shape).reshape(2, -1) + 1
    flat = {name: values.reshape(-1) for name, values in columns.items()}
    return pd.DataFrame({"label": all_keys(*shape), "layer": layer, "head": head} | flat)


def tidy(axes: Mapping[str, Sequence[object]], columns: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """A table with a row for each cell of arrays that share named axes.

    Args:
        axes: The labels along each axis, in order.
        columns: The arrays (axis, ...) by name; one that lacks the last axes is repeated along them.
    """
    shape = tuple(map(len, axes.values()))
    frame = pd.MultiIndex.from_product(list(axes.values()), names=list(axes)).to_frame(index=False)
    for name, array in columns.items():
        padded = np.reshape(array, np.shape(array) + (1,) * (len(shape) - np.ndim(array)))
        frame[name] = np.broadcast_to(padded, shape).reshape(-1)
    return frame
