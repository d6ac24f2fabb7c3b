"""What was skipped is told apart from what was changed."""

from bertviz_core.corpora import UNKNOWN, Skipped, skipped_summary


def test_inputs_tokens_and_other_changes_are_counted_apart() -> None:
    skipped = Skipped()
    skipped.add("a sentence of more than 128 tokens", "line 9", unit="sentences")
    skipped.add(UNKNOWN, "line 2", 11_123)
    skipped.add("a mention given twice (read once)", "line 3", 175)
    assert skipped_summary(skipped.to_json()) == "1 sentence skipped; 11,123 unknown tokens; 175 other changes"
    assert skipped_summary([]) == ""


def test_changes_are_called_other_only_beside_unknown_tokens() -> None:
    skipped = Skipped()
    skipped.add("a mention given twice (read once)", "line 3", 38)
    assert skipped_summary(iter(skipped.to_json())) == "38 changes"
