"""Rotary positions whose frequencies depend on the length of the longest input: dynamic scaling, and LongRoPE."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from typing import Any

from bertviz_core.models.configuration import Config

KINDS = ("dynamic", "longrope", "su")  # `rope_type` in transformers' configurations; "su" is an old name of LongRoPE
TRIED = 4  # first positions that are compared
LENGTHS = ("original_max_position_embeddings", "max_position_embeddings")


def length_limit(config: Config) -> int | None:
    """The most tokens of an input for which the frequencies are the same whatever stands beside it in a batch; None
    where they never change. `config` is a configuration as JSON, of a file or of a model in memory."""
    limits: list[int | None] = [_limit(rope, config) for rope in _rotary_settings(config) if _kind(rope) in KINDS]
    nested = config.get("text_config")
    if isinstance(nested, Mapping):
        limits.append(length_limit(nested))
    return min((limit for limit in limits if limit is not None), default=None)


def _rotary_settings(config: Config) -> Iterator[Config]:
    """Settings of all layers, or of each type of layers."""
    for name in ("rope_parameters", "rope_scaling"):  # the second is an old name of the first
        settings = config.get(name)
        if isinstance(settings, Mapping):
            yield settings
            yield from (each for each in settings.values() if isinstance(each, Mapping))


def _kind(rope: Config) -> Any:
    return rope.get("rope_type", rope.get("type"))


def _limit(rope: Config, config: Config) -> int:
    """LongRoPE changes past the original length, dynamic scaling past the largest; 0 where none is given."""
    if _kind(rope) == "dynamic":
        given = [config.get("max_position_embeddings")]
    else:
        given = [each.get(name) for name in LENGTHS for each in (rope, config)]
    return next((length for length in given if type(length) is int), 0)


def tried_limit(encoder: Any) -> int | None:
    """As `length_limit`, of a loaded model of any family: the shortest of its configuration's lengths past which an
    input changes the rotary positions of the first tokens. Only positions are computed, which takes no time."""
    lengths = sorted({*_lengths(encoder.config.to_dict())})
    parts = {type(part): part for part in encoder.modules() if _has_frequencies(part)}
    return next((length for length in lengths if any(_changes(part, length) for part in parts.values())), None)


def _has_frequencies(part: Any) -> bool:
    return any("inv_freq" in name for name, _ in part.named_buffers(recurse=False))


def _lengths(config: Config) -> Iterator[int]:
    """Every length that a configuration names, also in those inside it."""
    for name, value in config.items():
        if name in LENGTHS and type(value) is int and value > TRIED:
            yield value
        elif isinstance(value, Mapping):
            yield from _lengths(value)


def _changes(part: Any, length: int) -> bool:
    """Whether the first positions are others where a later one is past `length`; a part of another interface is not
    known to."""
    import torch

    kinds = getattr(part, "rope_type", None)
    for more in [{"layer_type": name} for name in kinds] if isinstance(kinds, dict) else [{}]:
        first = torch.arange(TRIED, device=next(part.buffers()).device)[None]
        further = torch.cat([first, torch.full_like(first[:, :1], length)], 1)
        states = torch.zeros(1, 1, 1, device=first.device)
        with torch.inference_mode(), suppress(TypeError, ValueError, RuntimeError, AttributeError, IndexError):
            alone, beside = (deepcopy(part)(states, positions, **more) for positions in (first, further))
            if isinstance(alone, torch.Tensor):  # The part gives complex numbers in place of cosines and sines.
                alone, beside = (alone,), (beside,)
            pairs = zip(alone, beside, strict=True)
            if any(not torch.equal(one, other[:, :TRIED]) for one, other in pairs):
                return True
    return False


def forget_earlier_inputs(module: Any, *_: Any) -> None:
    """A hook before each pass: frequencies that dynamic scaling keeps from a longer input are those of short ones."""
    for part, prefix in _dynamic(module):
        original = getattr(part, f"{prefix}original_inv_freq").clone()
        part.register_buffer(f"{prefix}inv_freq", original, persistent=False)
        setattr(part, f"{prefix}max_seq_len_cached", part.original_max_seq_len)


def has_dynamic(module: Any) -> bool:
    """Whether frequencies of a model are kept from one pass to the next."""
    return any(True for _ in _dynamic(module))


def _dynamic(module: Any) -> Iterator[tuple[Any, str]]:
    """Each part with frequencies that are scaled dynamically, and what their names begin with."""
    for part in module.modules():
        kinds = getattr(part, "rope_type", None)  # a name, or one for each type of layers
        by_prefix = {f"{name}_": kind for name, kind in kinds.items()} if isinstance(kinds, dict) else {"": kinds}
        yield from ((part, prefix) for prefix, kind in by_prefix.items() if isinstance(kind, str) and "dynamic" in kind)
