"""The metrics of heads that the viewer HeadVis exports, as maps of heads: `scatter_data.json`, of untrusted origin."""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from bertviz_core.analyses.base.result import csv_bytes, head_frame
from bertviz_core.errors import InputError, SettingsError, shorten
from bertviz_core.heads import all_heads
from bertviz_core.numbers import number, plural
from bertviz_core.plotting import DIVERGING, SEQUENTIAL
from bertviz_core.plotting.head_map import HeadMap, value_map
from bertviz_core.plotting.head_map_files import map_html

SUFFIXES = (".html", ".json", ".csv")
MAX_BYTES = 8_000_000  # thirty metrics of 6,000 heads
MAX_HEADS = 20_000  # of the map: more than any published model has
MAX_METRICS = 100
MAX_NAME = 80  # characters of the name of a metric
PLACE = ("layer", "head")
HINT = "Give scatter_data.json of a HeadVis export: a list with an object for each head."


@dataclass(frozen=True, eq=False)
class HeadMetrics:
    """What an export says of every head.

    Attributes:
        name: The name of the file.
        digest: sha256 (hex) of the file.
        metrics: From a metric to its (layer, head) values; NaN where a head has none.
    """

    name: str
    digest: str
    metrics: Mapping[str, np.ndarray]

    @property
    def shape(self) -> tuple[int, int]:
        """How many layers it has, and heads of a layer."""
        layers, heads = next(iter(self.metrics.values())).shape
        return layers, heads

    @property
    def source(self) -> str:
        """Where the numbers come from, as a line."""
        layers, heads = self.shape
        return (
            f"{plural(len(self.metrics), 'metrics')} of {layers} × {heads} heads from the HeadVis export {self.name} "
            f"(sha256 {self.digest[:16]}), as its authors computed them"
        )

    def values(self, metric: str) -> np.ndarray:
        """(layer, head) values of a metric; raises SettingsError where there is none of this name."""
        if metric not in self.metrics:
            raise SettingsError(f"There is no metric {metric!r}.", hint=f"Choose one of {', '.join(self.metrics)}.")
        return self.metrics[metric]

    def map_of(self, metric: str) -> HeadMap:
        """The map of a metric."""
        values = self.values(metric)
        most = float(np.nanmax(np.abs(values))) or 1.0
        is_signed = np.nanmin(values) < 0
        limits, scale = ((-most, most), DIVERGING) if is_signed else ((0.0, most), SEQUENTIAL)
        return value_map(values, metric, limits=limits, unit=metric, scale=scale)

    def to_frame(self) -> pd.DataFrame:
        """A row for each head, layers and heads counted from 1."""
        return head_frame(self.metrics)


def read_file(path: Path) -> HeadMetrics:
    """Read a file as `read` does; raises InputError also where it cannot be opened."""
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        what = f"The file cannot be read ({getattr(error, 'strerror', error)})."
        raise InputError(what, where=str(path), hint=HINT) from error
    return read(data, path.name)


def read(data: bytes, name: str) -> HeadMetrics:
    """Read the bytes of `scatter_data.json`.

    Raises:
        InputError: They are no such file; the message says what is wrong, and where.
    """
    if len(data) > MAX_BYTES:
        raise InputError(f"The file has more than {MAX_BYTES // 10**6} MB.", where=name, hint=HINT)
    rows = _entries(data, name)
    places = [_place(row, f"{name}, entry {number_of:,}") for number_of, row in enumerate(rows, 1)]
    shape = max(layer for layer, _ in places) + 1, max(head for _, head in places) + 1
    if math.prod(shape) > MAX_HEADS:
        what = f"Its heads would need a map of {shape[0]:,} × {shape[1]:,}, more than {MAX_HEADS:,}."
        raise InputError(what, where=name, hint="Layers and heads are whole numbers from 0.")
    twice, times = Counter(places).most_common(1)[0]
    if times > 1:
        raise InputError(f"Layer {twice[0]}, head {twice[1]} is there twice.", where=name, hint=HINT)
    metrics = {metric: np.full(shape, np.nan) for metric in _metrics(rows, name)}
    for place, row in zip(places, rows, strict=True):
        for metric, values in metrics.items():
            values[place] = _value(row.get(metric), f"{name}, layer {place[0]}, head {place[1]}, {shorten(metric, 40)}")
    return HeadMetrics(name, hashlib.sha256(data).hexdigest(), metrics)


def _entries(data: bytes, name: str) -> list[dict[str, Any]]:
    """The entries of the file, of which there is one at least."""
    try:
        rows = json.loads(data, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise InputError(f"The file is no JSON ({shorten(str(error), 80)}).", where=name, hint=HINT) from error
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError("The file is no list of objects.", where=name, hint=HINT)
    if not 0 < len(rows) <= MAX_HEADS:
        raise InputError(f"The file has {len(rows):,} heads: 1 to {MAX_HEADS:,} can be read.", where=name, hint=HINT)
    return rows


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number of JSON")


def _place(row: dict[str, Any], where: str) -> tuple[int, int]:
    layer, head = row.get("layer"), row.get("head")
    if type(layer) is int and type(head) is int and 0 <= min(layer, head) <= max(layer, head) < MAX_HEADS:
        return layer, head
    what = 'An entry needs "layer" and "head", whole numbers from 0.'
    raise InputError(what, where=where, hint=HINT)


def _metrics(rows: list[dict[str, Any]], name: str) -> list[str]:
    """The names that have a number in some entry, in the order in which they come."""
    found = dict.fromkeys(key for row in rows for key, value in row.items() if key not in PLACE and _is_number(value))
    if not found or len(found) > MAX_METRICS or max(map(len, found)) > MAX_NAME:
        what = f"The file has {len(found)} metrics, or one with a long name: 1 to {MAX_METRICS} can be read."
        raise InputError(what, where=name, hint=f"A name has at most {MAX_NAME} characters, a metric numbers.")
    return list(found)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _value(value: Any, where: str) -> float:
    """A number of an entry; NaN where it has none."""
    if value is None:
        return math.nan
    if not _is_number(value) or abs(value) > float(np.finfo(np.float32).max):
        raise InputError("This is no finite number.", where=where, hint="Write null where a head has none.")
    return float(value)


def to_text(read_metrics: HeadMetrics, metric: str) -> str:
    """The heads with the highest values of a metric."""
    values = read_metrics.values(metric)
    order = np.argsort(-np.nan_to_num(values.reshape(-1), nan=-np.inf), kind="stable")
    heads = all_heads(*values.shape)
    known = [heads[index] for index in order.tolist() if not np.isnan(values[heads[index]])]
    lines = [f"{head.key()}  {number(float(values[head]))}" for head in known[:20]]
    more = [f"... {len(known) - 20:,} more heads: --out x.csv has all."] if len(known) > 20 else []
    others = ", ".join(each for each in read_metrics.metrics if each != metric)
    return "\n".join([metric, *lines, *more, "", f"{read_metrics.source}.", f"Other metrics: {others or 'none'}."])


def to_bytes(read_metrics: HeadMetrics, metric: str, suffix: str) -> bytes:
    """The map of a metric as HTML, or all metrics as JSON or CSV, with their source."""
    if suffix == ".csv":
        return csv_bytes(read_metrics.to_frame().assign(source=read_metrics.source))
    if suffix == ".json":
        heads = json.loads(read_metrics.to_frame().to_json(orient="records", double_precision=15))
        return json.dumps({"source": read_metrics.source, "heads": heads}, ensure_ascii=False, indent=1).encode()
    caption = f"{read_metrics.source}. Layers and heads count from 1."
    return map_html(read_metrics.map_of(metric), f"{metric} of every head", caption).encode("utf-8", "replace")
