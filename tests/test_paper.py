"""The paper for the Journal of Open Source Software has the journal's form."""

import re
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "paper"
TEXT = (FOLDER / "paper.md").read_text(encoding="utf-8")


def test_it_cites_all_of_its_references_and_no_other() -> None:
    entries = set(re.findall(r"^@\w+\{(\w+),", (FOLDER / "paper.bib").read_text(encoding="utf-8"), re.M))
    assert set(re.findall(r"@([a-z]+\d{4})", TEXT)) == entries


def test_it_has_the_sections_the_length_and_the_figures_that_the_journal_asks_for() -> None:
    _, front, body = TEXT.split("---\n", 2)
    assert {"title", "tags", "authors", "bibliography"} <= set(re.findall(r"^(\w+):", front, re.M))
    assert re.findall(r"^# (.+)$", body, re.M)[:4] == [
        "Summary",
        "Statement of need",
        "State of the field",
        "Software design",
    ]
    assert 250 <= len(body.split()) <= 1750
    figures = re.findall(r"!\[[^]]+\]\((\S+)\)", body)
    assert figures and all((FOLDER / figure).is_file() for figure in figures)
