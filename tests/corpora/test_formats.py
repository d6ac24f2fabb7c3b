"""The table of formats: every example is read as its own format, and docs/formats.md shows them all."""

import re
from pathlib import Path

import pytest

from bertviz_core.corpora.annotated import CoreferenceCorpus, Treebank
from bertviz_core.corpora.formats import FORMATS, Format, names
from bertviz_core.corpora.readers import check
from bertviz_core.corpora.source import from_bytes

PAGE = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```(text|treebank|coreference)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
OPEN = {"treebank": Treebank, "coreference": CoreferenceCorpus}


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_an_example_is_recognized_read_and_shown(form: Format) -> None:
    source = from_bytes(form.example.encode(), "pasted text")
    assert OPEN[form.kind](source).form.name == form.name
    check(form.kind, source)
    assert f"{form.name}: {form.label}\n\n```{form.kind}\n{form.example}```\n" in PAGE


@pytest.mark.parametrize(("kind", "example"), EXAMPLES, ids=range(len(EXAMPLES)))
def test_the_examples_of_the_page_are_read(kind: str, example: str) -> None:
    check(kind, from_bytes(example.encode(), "pasted text"))


def test_the_page_shows_no_other_format() -> None:
    shown = [example for kind, example in EXAMPLES if kind != "text"]
    assert sorted(shown) == sorted(form.example for form in FORMATS)


def test_names_are_a_list_for_people() -> None:
    assert names("treebank") == "CoNLL-U, CoNLL-X or word head-label"
