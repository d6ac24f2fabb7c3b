"""The tables of a report and of the site: every statement that is decided, and the clearest heads."""

from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.overview.statement_tables import clearest_table, holding, statements_table
from tests.support import shipped

RESULTS = {name: shipped.result(name) for name in ("surface_patterns", "entropy", "dependency_heads")}
VERDICTS = {"✓": "shown", "✗": "not shown", "?": "undecided", "~": "demonstration"}


def test_each_statement_with_a_number_has_a_row_and_those_that_hold_are_among_them() -> None:
    table = statements_table(RESULTS, "demo").table
    with_numbers = [
        finding.sentence
        for name, result in RESULTS.items()
        for finding in ANALYSES[name].findings(result)
        if finding.state in VERDICTS.values()
    ]
    assert sorted(table["this model"][1:]) == sorted(with_numbers)  # the first row is of all analyses together
    verdicts = dict(zip(table["this model"], table["this run"], strict=True))
    assert all(VERDICTS[mark] == state for mark, state in (verdict.split("\u00a0") for verdict in verdicts.values()))
    sentences = [finding.sentence for finding in holding(RESULTS)]
    assert sentences and all(verdicts[sentence] == "✓\u00a0shown" for sentence in sentences)


def test_the_clearest_heads_are_named_once_for_what_they_do() -> None:
    table = clearest_table(RESULTS).table
    assert list(table) == ["head", "what it does", "this run", "baseline"] and not table.empty
    assert not table.duplicated(["head", "what it does"]).any()
