"""A cache of loaded models."""

import threading
from collections import OrderedDict
from contextlib import suppress

from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.models.devices import BYTES
from bertviz_core.models.loading import load_to_view
from bertviz_core.models.model import AttentionModel
from bertviz_core.settings import Offload

MAX_BYTES = 4 * 10**9  # bytes of cached weights: nine models of BERT-base's size


class LoadedModels:
    """A thread-safe cache of models for single inputs.

    Attributes:
        max_bytes: The most bytes of weights that it keeps, of the most recently used models; or one larger model.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self.max_bytes = max_bytes
        self._models: OrderedDict[tuple[str, ...], tuple[AttentionModel, float]] = OrderedDict()
        # Models are loaded one at a time: two at once take twice the memory and no less time.
        self._loading = threading.Lock()

    def get(
        self, checkpoint: Checkpoint, dtype: str, device: str = "auto", offload: Offload = "none"
    ) -> AttentionModel:
        """A model of the cache, which is loaded if it is not there; the least recently used ones make room for it.

        Args:
            dtype: The type of its parameters, one of DTYPES.
            device: Where it runs, one of DEVICES.
            offload: Where weights wait for which the GPUs have no room.
        """
        key = (checkpoint.fingerprint(), dtype, device, offload)
        with suppress(KeyError):  # The model is not loaded, or another thread drops it.
            self._models.move_to_end(key)
            return self._models[key][0]
        with self._loading:
            if key not in self._models:  # another thread may have loaded it
                size = checkpoint.parameters() * BYTES[dtype]
                while self._models and size + sum(taken for _, taken in list(self._models.values())) > self.max_bytes:
                    self._models.popitem(last=False)
                self._models[key] = load_to_view(checkpoint, device, dtype, offload), size
            return self._models[key][0]
