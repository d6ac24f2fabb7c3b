"""What fields of choices take, from the library; the command and the address read texts, with tests of their own."""

import pytest

import bertviz_core as bv


@pytest.mark.parametrize(
    ("analysis", "name", "value", "taken"),
    [
        ("entropy", "share", 0.05, "a number from 0.1 to 1"),
        ("entropy", "share", None, "a number from 0.1 to 1"),
        ("entropy", "share", True, "a number from 0.1 to 1"),
        ("entropy", "quantity", ["entropy"], "a text"),
        ("surface_patterns", "over", float("nan"), "a number from 0 to 0.95"),
        ("surface_patterns", "both", "no", "True or False"),
        ("ablation", "replace", "no", "one of zero, mean, uniform"),
        ("probes", "rank", 1.5, "a whole number from 1 to 1024"),
        ("dependency_heads", "page", True, "a whole number of 1 or more"),
        ("dependency_heads", "search", 3, "a text"),
        ("coreference_heads", "order", None, "one of most confident first"),
    ],
)
def test_a_value_of_another_kind_is_refused_before_anything_is_computed(analysis, name, value, taken):
    with pytest.raises(bv.BertvizError, match=rf"^{name} cannot be .*\. (Choose|Give) {taken}"):
        bv.analyze(analysis, store=False, **{name: value})
