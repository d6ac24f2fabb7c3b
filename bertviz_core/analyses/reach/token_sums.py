"""What each token of the corpus receives and gives, summed with the moments by document from which errors follow
(docs/methods.md, section 17, Tokens)."""

import math
from collections.abc import Mapping
from functools import reduce
from operator import add
from typing import Any, Self

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch import Tensor

from bertviz_core.analyses.base import statistics
from bertviz_core.analyses.base.open_documents import OpenDocuments
from bertviz_core.analyses.reach.result import FIRST_TOKEN, LEAST, SHARES, head_tokens
from bertviz_core.analyses.reach.token_table import TokenTable, add_up
from bertviz_core.analyses.reach.uniform import full_token_uniform
from bertviz_core.engine import heap
from bertviz_core.engine.packing import pack, unpack
from bertviz_core.inputs.encoding import Batch, Encoded
from bertviz_core.inputs.tensors import to_host
from bertviz_core.inputs.tokens import Tokens

FIRST = 0  # the number of a first token that is neither CLS nor SEP; any other token's is its id and 1
DOCUMENT = 2**32  # by which the number of a document is multiplied in the key of a document and a token
COUNTED = len(SHARES)
SPARE = 3  # times as many tokens have sums as have numbers in the end: of 32,768 tokens of English nearly all do
TABLES = ("counts", "complete", "inputs")
# In `about`, for each of SHARES and each layer: occurrences that are summed, units, what uniform attention would give,
# and its squares; of an incomplete document only the occurrences and what uniform attention would give.
SEEN, UNITS, UNIFORM, SQUARES = range(4)


class TokenSums:
    """Sums over documents by token, of the tokens that are the most frequent so far.

    Rows wait for the end of their chunk, as in DocumentSums.

    Attributes:
        counts: How often each token was read, by its number, of all tokens.
        complete: Moments over the complete documents by token: `about` is (row, number, share, layer), heads are (row,
            share, moment, layer, head), the sums of s, n s and s^2, with n what uniform attention would give in a
            document and s what the head does.
        open_documents: The sums n and s (row, share, 1, layer, head) by token of documents that the next chunk may
            continue.
        closed: Moments over documents that it has not continued, which `complete` gets next.
        inputs: Moments over inputs in place of documents, as long as all are of one document.
        batches: The inputs of an unfinished chunk, each batch padded as its rows are.
        rows: Their rows, (layer, batch and token, share and head), on the device.
        local: What uniform attention would give in layers of local attention, (layer, batch and token, share), on the
            device; NaN where attention is full, and None where it is in all layers.
        is_batch: Whether rows were added since the chunk began: then it may be any part of a chunk.
    """

    def __init__(self, layers: int, heads: int, tokens: Tokens, causal: bool) -> None:
        """Begin without tokens.

        Args:
            tokens: The model's tokenizer.
            causal: Whether a token sees only itself and earlier ones.
        """
        self.tokenizer = tokens
        self.causal = causal
        self.shape = (layers, heads)
        self.most = head_tokens(layers * heads)
        self.counts = TokenTable.empty((1,), ())
        self.complete = TokenTable.empty((4, COUNTED, layers), (COUNTED, 3, layers, heads))
        self.open_documents = OpenDocuments[TokenTable](self._close)
        self.closed: list[TokenTable] = []
        self.inputs = self.complete
        self.batches: list[tuple[tuple[Encoded, ...], int]] = []
        self.rows: list[Tensor] = []
        self.local: list[Tensor | None] = []
        self.is_batch = False

    def add(self, batch: Batch, received: Tensor, given: Tensor, local: Tensor | None) -> None:
        """Add what the tokens of a batch receive and give.

        Args:
            received: (layer, batch, head, token) what every token receives.
            given: (layer, batch, head, token) what ordinary tokens give other ordinary tokens.
            local: (layer, batch, token, share) what uniform attention would give in layers of local attention; NaN
                where attention is full, and None where it is in all layers.
        """
        self.is_batch = True
        self.local.append(None if local is None else local.flatten(1, 2))
        self.batches.append((batch.examples, batch.ids.shape[1]))
        self.rows.append(torch.stack([received, given], 2).permute(0, 1, 4, 2, 3).flatten(3).flatten(1, 2))

    def merge(self, other: Self) -> None:
        """Merge a batch of the same chunk, in any order, or the next chunk of the corpus."""
        if other.is_batch:
            self.batches += other.batches
            self.rows += other.rows
            self.local += other.local
            return
        self.finish_chunk()
        other.finish_chunk()
        self._join(other)

    def finish_chunk(self) -> None:
        """Add up the rows of a chunk."""
        self.is_batch = False
        if not self.batches:
            return
        chunk = type(self)(*self.shape, self.tokenizer, self.causal)
        is_on_cpu = self.rows[0].device.type == "cpu"
        batches, rows = self.batches, to_host([torch.cat(self.rows, 1), *self._local()])
        self.batches = []
        self.rows = []  # Freed before the sums need as much room.
        self.local = []
        chunk._sum(batches, *rows)
        self._join(chunk)
        if is_on_cpu:
            heap.give_back()  # The holes are of another size than what follows.

    def state(self) -> dict[str, Any]:
        """Bytes by name, all that `restore` needs."""
        self.finish_chunk()
        tables = {name: pack(getattr(self, name).state()) for name in TABLES}
        return tables | {"documents": self.open_documents.to_bytes(TokenTable.state)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a `state`; raises KeyError where it lacks something."""
        self.open_documents.restore(state["documents"], TokenTable.of_state)
        for name in TABLES:
            setattr(self, name, TokenTable.of_state(unpack(state[name])))

    def fields(self, tokens: Tokens) -> dict[str, Any]:
        """The fields of Reach that are about tokens: those of the most frequent that are frequent enough."""
        self.finish_chunk()
        documents = self.open_documents.sums
        table = self.inputs if len(documents) < 2 else self.complete + _moments_of(documents)
        seen, received = table.about[:, :UNIFORM, 0, 0].T  # What a token receives has the same units in all layers.
        is_enough = (seen >= LEAST) & (received >= statistics.MIN_UNITS)
        table = table.where(is_enough & np.isin(table.keys, self._most_frequent(self.most)))
        counts = self.counts.about[np.searchsorted(self.counts.keys, table.keys), 0]
        order = np.argsort(-counts, kind="stable")
        about = table.about[order].transpose(1, 2, 0, 3)[..., None]  # (number, share, token, layer, 1)
        s, ns, ss = np.moveaxis(table.heads[order], (0, 2), (2, 0))  # (share, token, layer, head)
        n, nn, units = about[[UNIFORM, SQUARES, UNITS]]
        error, effective = statistics.error_by_document(n, s, np.stack(np.broadcast_arrays(units, nn, ns, ss)))
        numbers = table.keys[order]
        names = tokens.names(np.maximum(numbers - 1, 0))
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = s / np.where(n > 0, n, np.nan)
        return {
            "tokens": [FIRST_TOKEN if number == FIRST else name for number, name in zip(numbers, names, strict=True)],
            "token_counts": counts[order].astype(np.int64),
            "token_summed": table.about[order, SEEN, 0, 0].astype(np.int64),
            "token_shares": shares.astype(np.float32),
            "token_errors": error.astype(np.float32),
            "token_units": effective[..., 0],
        }

    def _local(self) -> list[Tensor]:
        """`local` of all batches as one tensor; none where attention is full in all of them."""
        if all(each is None for each in self.local):
            return []
        parts = []
        for rows, local in zip(self.rows, self.local, strict=True):
            parts.append(rows.new_full((*rows.shape[:2], COUNTED), torch.nan) if local is None else local)
        return [torch.cat(parts, 1)]

    def _sum(
        self, batches: list[tuple[tuple[Encoded, ...], int]], layers: np.ndarray, local: np.ndarray | None = None
    ) -> None:
        """Begin with the rows of one chunk, (layer, batch and token, share and head), and `local` of these rows."""
        examples = [example for rows, _ in batches for example in rows]
        lengths = [len(example) for example in examples]
        numbers = np.concatenate([*map(self._numbers, examples)])
        documents = np.repeat([example.document_number for example in examples], lengths)
        keys, counts = np.unique(numbers, return_counts=True)
        self.counts = TokenTable(keys, counts[:, None].astype(float), np.zeros(len(keys)))
        ends = np.unique([documents.min(), documents.max()]).tolist()
        is_one = len(ends) == 1
        units = np.repeat(np.arange(len(examples)), lengths) if is_one else documents
        frequent = np.flatnonzero(np.isin(numbers, self._most_frequent(SPARE * self.most)))
        pairs, pair = np.unique(units[frequent] * DOCUMENT + numbers[frequent], return_inverse=True)
        places = _places(batches)[frequent]
        adding = _adding(pair, places, (len(pairs), layers.shape[1]))
        by_pair = _adding(pair, np.arange(len(frequent)), (len(pairs), len(frequent)))
        full = [full_token_uniform(example, self.tokenizer, self.causal) for example in examples]
        uniform = np.concatenate(full)[frequent]
        document = np.full(len(pairs), ends[0]) if is_one else pairs // DOCUMENT
        summed = _Layers(len(layers))
        of_ends = {end: _Layers(len(layers)) for end in ends}
        for layer, rows in enumerate(layers):
            of_layer = uniform if local is None else _known(local[layer, places], uniform)
            about = np.zeros((len(pairs), 4, COUNTED, 1))
            about[:, SEEN] = (by_pair @ np.ones(len(frequent)))[:, None, None]
            about[:, UNIFORM, :, 0] = by_pair @ of_layer
            sums = (adding @ rows.astype(np.float64)).reshape(-1, COUNTED, 1, 1, self.shape[1])
            table = TokenTable(pairs, about, sums)
            summed.add(layer, _moments(table if is_one else table.where(~np.isin(document, ends))))
            for end, of_end in of_ends.items():
                of_end.add(layer, _by_token(table.where(document == end)))
        self.open_documents.add({end: of_end.table for end, of_end in of_ends.items()})
        if is_one:
            self.inputs = summed.table
        else:
            self.complete = summed.table

    def _join(self, other: "TokenSums") -> None:
        """Add finished sums of what follows; those of tokens that are no longer among the most frequent are
        forgotten."""
        self.counts += other.counts
        frequent = self._most_frequent(SPARE * self.most)
        self.inputs = add_up([self.inputs, other.inputs], frequent)
        self.open_documents.merge(other.open_documents)
        self.complete = add_up([self.complete, other.complete, *self.closed], frequent)
        self.closed = []
        if len(self.open_documents.sums) > 1:
            self.inputs = self.inputs.where(np.zeros(len(self.inputs.keys), dtype=bool))
        documents = self.open_documents.sums
        self.open_documents.sums = {number: table.of(frequent) for number, table in documents.items()}

    def _close(self, documents: Mapping[int, TokenTable]) -> None:
        self.closed.append(_moments_of(documents))

    def _most_frequent(self, count: int) -> np.ndarray:
        """Numbers of the most frequent tokens so far; of equally frequent ones those with the lower ids."""
        order = np.lexsort((self.counts.keys, -self.counts.about[:, 0]))
        return self.counts.keys[order[:count]]

    def _numbers(self, example: Encoded) -> np.ndarray:
        """(token,) the number of each token of an input."""
        numbers = example.ids + 1
        if example.ids[0] not in (self.tokenizer.cls, self.tokenizer.sep):
            numbers[0] = FIRST
        return numbers


def _places(batches: list[tuple[tuple[Encoded, ...], int]]) -> np.ndarray:
    """(token,) the row of each token of all inputs, among the rows of padded batches one after the other."""
    places, start = [], 0
    for examples, size in batches:
        for example in examples:
            places.append(start + np.arange(len(example)))
            start += size
    return np.concatenate(places)


def _adding(sums: np.ndarray, rows: np.ndarray, shape: tuple[int, int]) -> csr_matrix:
    """The matrix whose product with rows adds each of `rows` to the sum with the number in `sums`."""
    return csr_matrix((np.ones(len(rows)), (sums, rows)), shape=shape)


def _known(values: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Values of any shape, in place of NaN those of another array."""
    return np.where(np.isnan(values), others, values)


def _moments(table: TokenTable) -> TokenTable:
    """Moments by token over units, from the sums by unit and token."""
    n, s = table.about[:, UNIFORM], table.heads
    about = np.stack([table.about[:, SEEN], n > 0, n, n * n], 1)
    heads = np.concatenate([s, n[:, :, None, :, None] * s, s * s], 2)
    return _by_token(TokenTable(table.keys, about, heads))


def _by_token(table: TokenTable) -> TokenTable:
    """Sums by token, from those by unit and token."""
    tokens, token = np.unique(table.keys % DOCUMENT, return_inverse=True)
    adding = _adding(token, np.arange(len(token)), (len(tokens), len(token)))
    sums = []
    for each in (table.about, table.heads):
        shape = each.shape[1:]
        sums.append((adding @ each.reshape(len(token), math.prod(shape))).reshape(len(tokens), *shape))
    return TokenTable(tokens, *sums)


def _moments_of(documents: Mapping[int, TokenTable]) -> TokenTable:
    """Moments by token over documents, from their sums by token."""
    return reduce(add, (_moments(documents[number]) for number in sorted(documents)))


class _Layers:
    """A table of all layers, which gets those of single layers one after another: only one of these is in memory.

    Attributes:
        count: How many layers there are.
        table: All of them.
    """

    table: TokenTable

    def __init__(self, count: int) -> None:
        self.count = count

    def add(self, layer: int, table: TokenTable) -> None:
        """Add the table of one layer, from 0; all have the same keys."""
        arrays = (table.about, table.heads)
        if layer == 0:
            empty = (np.empty((*each.shape[:3], self.count, *each.shape[4:])) for each in arrays)
            self.table = TokenTable(table.keys, *empty)
        for whole, each in zip((self.table.about, self.table.heads), arrays, strict=True):
            whole[:, :, :, layer] = each[:, :, :, 0]
