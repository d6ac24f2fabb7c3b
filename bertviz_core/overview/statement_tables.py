"""What all analyses of a model decide, and its clearest heads, as tables: of a report, and of the static site."""

from itertools import islice

import pandas as pd

from bertviz_core.analyses.base.findings import DECIDED, MARKS, SHOWN, Finding
from bertviz_core.analyses.base.found_heads import FoundHead
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Results
from bertviz_core.analyses.base.table_blocks import Table
from bertviz_core.overview.clearest_heads import MOST_FOUND, clearest
from bertviz_core.overview.summary import count_states, every_finding, roles

CLEAREST = ("head", "what it does", "this run", "baseline")


def decided(results: Results) -> list[Finding]:
    """The findings that have numbers."""
    return [finding for finding in every_finding(results) if finding.state in DECIDED]


def holding(results: Results) -> list[Finding]:
    """Those about single heads that hold for this model."""
    return [finding for finding in decided(results) if finding.id in roles() and finding.state == SHOWN]


def statements_table(results: Results, label: str) -> Table:
    """A row for each statement that is decided; its note names the model by its label."""
    rows = [
        {
            "section": each.section,
            "the paper, on BERT-base": each.statement or "beyond the paper",
            "rule": each.rule,
            "this model": each.sentence,
            "this run": f"{MARKS[each.state]}\u00a0{each.state}",
        }
        for each in decided(results)
    ]
    note = (
        f"{count_states(every_finding(results))} for {label} on these corpora. Statements are undecided if their 95% "
        "interval contains the threshold, or if there is too little text."
    )
    title = "Which of the paper's statements this model shows"
    return Table("statements", title, pd.DataFrame(rows), note=note)


def clearest_table(results: Results) -> Table:
    """The clearest head of each behavior, and the heads that find something."""
    rows = [(each.head.key(), each.name, each.text, "") for each in clearest(results)]
    for name, analysis in ANALYSES.items():
        if name in results:
            found = islice(analysis.found_heads(results[name]), MOST_FOUND)
            rows += [_found_row(each) for each in found if each.baseline]
    return Table("clearest", "The clearest heads", pd.DataFrame(rows, columns=CLEAREST))


def _found_row(found: FoundHead) -> tuple[str, str, str, str]:
    name = f"{found.name}, {found.counted}" if found.counted else found.name
    return found.head.key(), name, found.text, found.baseline
