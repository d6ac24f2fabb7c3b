"""The numbers of a model's heads as the viewer HeadVis reads them; heads and layers count from 0 there.

Its `src/lib/data.js`, `Index.svelte`, `MetricsTab.svelte`, `SequencesTab.svelte` and `sparse.js` say what it reads.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Results
from bertviz_core.head_atlas.contents import ModelContents
from bertviz_core.heads import Head
from bertviz_core.one_head.clear_input import ClearInput
from bertviz_core.overview.head_columns import Column, columns

FOLDER = "headvis"
DECIMALS = 4
KEPT = 6  # keys of each query
LEAST = 0.005  # weight that is kept
TOKENS = 15  # in a list of the tokens with the most attention, as many as the viewer shows
EDGES = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512)  # of the histogram of distances, in tokens
Sample = dict[str, Any]  # an input as the viewer reads it


def name_of(column: Column) -> str:
    """The name of a metric, as in tables of the overview."""
    return ANALYSES[column.analysis].export_name(column.quantity)


def files(contents: ModelContents) -> Iterator[tuple[str, bytes]]:
    """What the viewer reads first: its configuration, and a row of metrics for each head."""
    known = columns(contents.results)
    checkpoint = contents.checkpoint
    config = {
        "model_name": checkpoint.label,
        "heads": [[head.layer, head.head] for head in contents.heads],
        "n_layers": checkpoint.layers,
        "n_heads": checkpoint.heads,
        "n_intervals": 1,
        "metrics": [name_of(each) for each in known],
        "metric_descriptions": {name_of(each): _described(each, contents.results) for each in known},
        "head_data_pattern": "L{layer}H{head}.json",
        "has_umap": False,
        "umap_heads": [],
        "custom_plots": [{"key": "qk_distance_histogram", "label": "Distance of queries and keys"}],
        "custom_tables": [
            {"key": "top_query_tokens", "label": "Tokens that attend most"},
            {"key": "top_key_tokens", "label": "Tokens attended to most"},
        ],
    }
    rows = [{"layer": head.layer, "head": head.head, **metrics(known, head)} for head in contents.heads]
    # The viewer offers the metrics of the first row: heads of the first layer lack compositions, and null would be 0.
    rows.sort(key=len, reverse=True)
    yield f"{FOLDER}/config.json", _json(config)
    yield f"{FOLDER}/scatter_data.json", _json(rows)
    yield f"{FOLDER}/server_config.json", b"{}"
    yield f"{FOLDER}/attributions/manifest.json", b"{}"


def metrics(known: Sequence[Column], head: Head) -> dict[str, float]:
    """The numbers that a head has, by the names of metrics."""
    values = {name_of(each): float(each.values[head]) for each in known}
    return {name: value for name, value in values.items() if not np.isnan(value)}


def head_file(contents: ModelContents, head: Head) -> tuple[str, bytes]:
    """The file of one head: inputs with its attention, and what follows from these."""
    sequences = [_sequence(*each) for each in contents.observations(head)]
    whole = {
        "sequences": sequences,
        "qk_distance_histogram": distances(sequences) if sequences else {},
        "top_query_tokens": top_tokens(sequences, of_keys=False),
        "top_key_tokens": top_tokens(sequences, of_keys=True),
        # Of many inputs, which were not run: the viewer counts those above, and takes metrics from the rows.
        "histogram": {},
        "statistics": {},
    }
    return f"{FOLDER}/heads/L{head.layer}H{head.head}.json", _json(whole)


def _sequence(of: ClearInput, labels: Sequence[str], weights: np.ndarray) -> Sample:
    """An input with the highest of the head's (query, key) weights."""
    queries, keys = highest_weights(weights)
    rounded = weights[queries, keys].astype(np.float64).round(DECIMALS)
    return {
        "sequence_id": of.segment.number,
        "interval": 1,
        "tokens": list(labels),
        "attention_indices": (queries * len(labels) + keys).tolist(),
        "attention_values": rounded.tolist(),
        "seq_len": len(labels),
        # The viewer leaves out the first query and the first key, where it looks for the highest weight.
        "max_activation": round(float(weights[1:, 1:].max(initial=0)), DECIMALS),
        "where": of.where,
        "highest_of": of.row.name,
    }


def highest_weights(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Queries and keys of the KEPT highest weights of each query that are at least LEAST, from (query, key) weights."""
    order = np.argsort(-weights, axis=1, kind="stable")[:, :KEPT]
    is_kept = np.zeros(weights.shape, dtype=bool)
    np.put_along_axis(is_kept, order, True, axis=1)
    queries, keys = np.nonzero(is_kept & (weights >= LEAST))
    return queries, keys


def _pairs(sequences: Sequence[Sample]) -> Iterator[tuple[Sample, int, int, float]]:
    for each in sequences:
        for index, value in zip(each["attention_indices"], each["attention_values"], strict=True):
            yield each, *divmod(index, each["seq_len"]), value


def distances(sequences: Sequence[Sample]) -> dict[str, list[float]]:
    """The weight at distances between query and key; all beyond the last edge in the last bin."""
    bins = [0.0] * (len(EDGES) - 1)
    for _, query, key, value in _pairs(sequences):
        place = int(np.searchsorted(EDGES, abs(query - key), side="right")) - 1
        bins[min(place, len(bins) - 1)] += value
    return {"bin_edges": list(EDGES), "bin_values": [round(value, DECIMALS) for value in bins]}


def top_tokens(sequences: Sequence[Sample], *, of_keys: bool) -> list[dict[str, Any]]:
    """The tokens with the most weight as queries or keys."""
    sums: dict[str, float] = {}
    for each, query, key, value in _pairs(sequences):
        token = each["tokens"][key if of_keys else query]
        sums[token] = sums.get(token, 0.0) + value
    highest = sorted(sums.items(), key=lambda item: -item[1])[:TOKENS]
    return [{"token": token, "weight": round(weight, DECIMALS)} for token, weight in highest]


def _described(column: Column, results: Results) -> str:
    corpus = results[column.analysis].provenance["corpus"]["name"]
    return f"{ANALYSES[column.analysis].title}: {column.spec.label}, on {corpus}"


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")
