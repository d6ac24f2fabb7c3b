"""Models that stay loaded for the next request, up to a number of bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict

from bertviz_core.import_lock import IMPORTING
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.models.model import AttentionModel

ROOM = 4 * 10**9  # bytes of weights: nine models of BERT-base's size
BYTES = {"float32": 4, "bfloat16": 2}


class LoadedModels:
    """Models for single inputs, for any number of threads; the one longest unused goes first.

    Args:
        room: Bytes that the weights may take together. A single model may take more.
        device: Where they run, one of settings.DEVICES.
    """

    def __init__(self, room: int = ROOM, device: str = "auto") -> None:
        self.room, self.device = room, device
        self._models: OrderedDict[tuple[str, str], tuple[AttentionModel, int]] = OrderedDict()
        self._lock, self._loading = threading.Lock(), threading.Lock()

    def get(self, checkpoint: Checkpoint, dtype: str) -> AttentionModel:
        """A loaded model; models are loaded one at a time, since two at once take twice the memory and no less time."""
        with IMPORTING:
            from bertviz_core.models.single_input import load_to_view

        key = (checkpoint.fingerprint(), dtype)
        if model := self._find(key):
            return model
        with self._loading:
            if model := self._find(key):
                return model
            size = checkpoint.parameters() * BYTES[dtype]
            self._make_room(size)
            model = load_to_view(checkpoint, self.device, dtype)
            with self._lock:
                self._models[key] = model, size
            return model

    def _find(self, key: tuple[str, str]) -> AttentionModel | None:
        with self._lock:
            if key not in self._models:
                return None
            self._models.move_to_end(key)
            return self._models[key][0]

    def _make_room(self, size: int) -> None:
        with self._lock:
            while self._models and size + sum(taken for _, taken in self._models.values()) > self.room:
                self._models.popitem(last=False)
