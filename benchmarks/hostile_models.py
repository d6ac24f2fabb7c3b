"""Folders of models that are damaged at random: what a server reads of them itself, and what the process of the first
opening makes of them (bertviz_core/engine/first_opening.py)."""

import json
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bertviz_core.engine.first_opening import open_in_process
from bertviz_core.errors import BertvizError
from bertviz_core.models.checkpoint import DEMO_FOLDER, find_checkpoint

FILES = ("config.json", "tokenizer.json", "tokenizer_config.json")
ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1,
    1e9,
    10**9,
    10**400,
    "",
    "x",
    "\0",
    "../../x",
    "\ud800",
    [],
    [1],
    {},
    {"a": 1},
)
NORMALIZERS: tuple[Any, ...] = (
    {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 200},
    {"type": "Replace", "pattern": {"Regex": "(a|aa)+$"}, "content": "b"},
    {"type": "Replace", "pattern": {"String": ""}, "content": "a"},
    {"type": "Prepend", "prepend": "a" * 100_000},
    {"type": "NFKD"},
)


@dataclass(frozen=True)
class Damaged:
    """What came of a damaged folder.

    Attributes:
        changes: What was changed in it, in words.
        outcome: "opened", "refused: ..." or "TRACEBACK: ...".
        seconds: The seconds that the server's own reading took, and those of the opening.
    """

    changes: str
    outcome: str
    seconds: tuple[float, float]


def damaged(count: int, seed: int) -> Iterator[Damaged]:
    """So many copies of the demo's folder, each with one to three changes drawn at random, and what comes of each."""
    draws = random.Random(seed)
    with tempfile.TemporaryDirectory() as parent:
        for number in range(count):
            folder = Path(shutil.copytree(DEMO_FOLDER, Path(parent, str(number))))
            changes = [draws.choice(CHANGES)(folder, draws) for _ in range(draws.randint(1, 3))]
            yield _try(folder, "; ".join(changes))
            shutil.rmtree(folder)


def _try(folder: Path, changes: str) -> Damaged:
    times = [time.monotonic()] * 3
    outcome = "opened"
    try:
        model = find_checkpoint(str(folder))
        model.fingerprint()
        times[1:] = [time.monotonic()] * 2
        open_in_process(model)
    except BertvizError as error:
        outcome = f"refused: {error.what}"
    except Exception as error:
        outcome = f"TRACEBACK: {type(error).__name__}: {error}"
    times[2] = time.monotonic()
    return Damaged(changes, outcome, (times[1] - times[0], times[2] - times[1]))


def _change_entry(folder: Path, draws: random.Random) -> str:
    """Replace an entry, at any depth, by something odd, or leave it out."""
    path = folder / draws.choice(FILES)
    whole = _json(path)
    places = list(_places(whole))
    if not places:
        return f"{path.name} as it was"
    inside, key = draws.choice(places)
    value = draws.choice(ODD)
    if draws.random() < 0.2:
        del inside[key]
        text = "left out"
    else:
        inside[key] = value
        text = f"= {str(value)[:20]!r}"
    path.write_text(json.dumps(whole))
    return f"{path.name}: {key} {text}"


def _places(part: Any, depth: int = 0) -> Iterator[tuple[Any, Any]]:
    """(container, key) of all entries of JSON; of a long container, such as a vocabulary, of the first ones."""
    keys = list(part) if isinstance(part, dict) else list(range(len(part)))
    for key in keys[:50]:
        yield part, key
        if isinstance(part[key], dict | list) and depth < 5:
            yield from _places(part[key], depth + 1)


def _change_normalizer(folder: Path, draws: random.Random) -> str:
    whole = _json(folder / "tokenizer.json")
    kinds = [draws.choice(NORMALIZERS) for _ in range(draws.randint(1, 8))]
    (folder / "tokenizer.json").write_text(
        json.dumps(whole | {"normalizer": {"type": "Sequence", "normalizers": kinds}})
    )
    return f"tokenizer.json: normalizers {', '.join(kind['type'] for kind in kinds)}"


def _json(path: Path) -> dict[str, Any]:
    """The object of a file; an empty one of a file that an earlier change has spoiled."""
    try:
        value = json.loads(path.read_text())
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _spoil_bytes(folder: Path, draws: random.Random) -> str:
    """Overwrite some bytes of a file near its beginning, where headers are."""
    path = folder / draws.choice((*FILES, "model.safetensors"))
    data = bytearray(path.read_bytes())
    start = draws.randrange(min(len(data), 4000) or 1)
    size = draws.randint(1, 8)
    data[start : start + size] = draws.randbytes(size)
    path.write_bytes(data)
    return f"{path.name}: {size} bytes from {start} on"


def _cut_off(folder: Path, draws: random.Random) -> str:
    path = folder / draws.choice((*FILES, "model.safetensors"))
    size = draws.randrange(path.stat().st_size + 1)
    with path.open("r+b") as stream:
        stream.truncate(size)
    return f"{path.name}: cut off at {size:,} bytes"


def _grow(folder: Path, draws: random.Random) -> str:
    path = folder / draws.choice((*FILES, "vocab.txt", "chat_template.jinja"))
    size = 10 ** draws.randint(5, 9)
    with path.open("ab") as stream:
        stream.truncate(size)
    return f"{path.name}: {size:,} bytes"


CHANGES: tuple[Callable[[Path, random.Random], str], ...] = (
    _change_entry,
    _change_entry,
    _change_normalizer,
    _spoil_bytes,
    _cut_off,
    _grow,
)
