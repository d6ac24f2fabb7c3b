"""Rotary positions whose frequencies depend on the length of the longest input: dynamic scaling, and LongRoPE."""

from collections.abc import Iterator, Mapping
from typing import Any

KINDS = ("dynamic", "longrope", "su")  # `rope_type` in transformers' configurations; "su" is an old name of LongRoPE
LENGTHS = ("original_max_position_embeddings", "max_position_embeddings")


def length_limit(config: Mapping[str, Any]) -> int | None:
    """The most tokens of an input for which the frequencies are the same whatever stands beside it in a batch; None
    where they never change. `config` is a configuration as JSON, of a file or of a model in memory."""
    limits: list[int | None] = [_limit(rope, config) for rope in _rotary_settings(config) if _kind(rope) in KINDS]
    nested = config.get("text_config")
    if isinstance(nested, Mapping):
        limits.append(length_limit(nested))
    return min((limit for limit in limits if limit is not None), default=None)


def _rotary_settings(config: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Settings of all layers, or of each type of layers."""
    for name in ("rope_parameters", "rope_scaling"):  # the second is an old name of the first
        settings = config.get(name)
        if isinstance(settings, Mapping):
            yield settings
            yield from (each for each in settings.values() if isinstance(each, Mapping))


def _kind(rope: Mapping[str, Any]) -> Any:
    return rope.get("rope_type", rope.get("type"))


def _limit(rope: Mapping[str, Any], config: Mapping[str, Any]) -> int:
    """LongRoPE changes past the original length, dynamic scaling past the largest; 0 where none is given."""
    if _kind(rope) == "dynamic":
        given = [config.get("max_position_embeddings")]
    else:
        given = [each.get(name) for name in LENGTHS for each in (rope, config)]
    return next((length for length in given if type(length) is int), 0)


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
