"""Every example of docs/formats.md is read as what the page says it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bertviz_core.corpora.readers import check
from bertviz_core.corpora.source import from_bytes

PAGE = (Path(__file__).parent.parent / "docs" / "formats.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```(text|treebank|coreference)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("kind", "example"), EXAMPLES, ids=range(len(EXAMPLES)))
def test_it_is_read(kind: str, example: str) -> None:
    check(kind, from_bytes(example.encode(), "pasted text"))


def test_the_examples_are_of_different_formats() -> None:
    from bertviz_core.corpora.coreference.formats import read_coreference
    from bertviz_core.corpora.treebank.reader import Treebank

    sources = [(kind, from_bytes(example.encode(), "pasted text")) for kind, example in EXAMPLES]
    treebanks = [Treebank(source).format for kind, source in sources if kind == "treebank"]
    chains = [read_coreference(source).format for kind, source in sources if kind == "coreference"]
    assert len(treebanks) == len(set(treebanks)) == 3
    assert len(chains) == len(set(chains)) == 6
