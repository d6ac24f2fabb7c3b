"""Choices as an address: every value comes back from its parameters, and what is none is named."""

from dataclasses import replace
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from urllib.parse import parse_qsl, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as some

from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.choices import Between, Choices, Longest, hints, limits_of, metadata, options_of, required
from bertviz_core.errors import SettingsError
from bertviz_core.heads import Head
from pages.shared.state import address
from pages.shared.state.choices import AttentionViewerChoices, HeaderChoices
from pages.shared.state.kinds import PAGES, kind_of

KINDS: tuple[type[Choices], ...] = (HeaderChoices, *PAGES, *map(kind_of, ANALYSES))
TEXT = some.text(some.characters(exclude_categories=["Cs"]), max_size=80)
PART = some.text(some.characters(exclude_categories=["Cs"], exclude_characters=","), min_size=1, max_size=20)


def values(hint: Any) -> some.SearchStrategy[Any]:
    """Values that a field of this type may have."""
    if get_origin(hint) in (Union, UnionType):
        return some.one_of(*(some.none() if part is NoneType else values(part) for part in get_args(hint)))
    if get_origin(hint) is Annotated:
        return limited(hint)
    if get_origin(hint) is Literal:
        return some.sampled_from(get_args(hint))
    if get_origin(hint) is tuple:
        listed = some.sampled_from(get_args(get_args(hint)[0])) if get_origin(get_args(hint)[0]) is Literal else PART
        return some.lists(listed, max_size=4).map(tuple)
    number = some.integers(0, 10**9 - 2)
    return {bool: some.booleans(), str: TEXT, Head: some.builds(Head, number, number), Path: PART.map(Path)}[hint]


def limited(hint: Any) -> some.SearchStrategy[Any]:
    """Values of an annotated type, which may be one that allows None."""
    inner = get_args(hint)[0]
    limits = next((each for each in metadata(hint) if isinstance(each, Between)), None)
    longest = next((each for each in metadata(hint) if isinstance(each, Longest)), None)
    if longest:
        return some.text(some.characters(exclude_categories=["Cs"]), max_size=longest.characters)
    if limits is None:
        return values(inner)
    if required(hint) is int:
        numbers: some.SearchStrategy[Any] = some.integers(int(limits.low), int(limits.high))
    else:
        numbers = some.floats(limits.low, limits.high).map(lambda value: float(f"{value:.10g}"))
        numbers = numbers.filter(lambda value: limits.low <= value <= limits.high)
    return some.one_of(some.none(), numbers) if get_origin(inner) in (Union, UnionType) else numbers


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@given(data=some.data())
def test_every_value_comes_back_from_its_address(kind: type[Choices], data: some.DataObject) -> None:
    choices = kind(**{name: data.draw(values(hint), label=name) for name, hint in hints(kind).items()})
    parameters = dict(parse_qsl(urlencode(address.query(choices)), keep_blank_values=True))
    assert address.parse(kind, parameters) == (choices, {})


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_defaults_are_in_no_address(kind: type[Choices]) -> None:
    assert address.query(kind()) == {}


def test_parameters_have_the_names_that_links_have_always_had() -> None:
    assert address.query(AttentionViewerChoices(shape="table", head2=Head(2, 4))) == {"as": "table", "head2": "3-5"}
    for page, field, value, parameter in (
        ("clustering", "over_to_sep", 0.3, "over-to_sep"),
        ("entropy", "quantity", "from_cls", "of"),
        ("sep_gradients", "quantity", "to_cls", "gradient"),
    ):
        assert address.query(replace(kind_of(page)(), **{field: value})) == {parameter: str(value)}


@pytest.mark.parametrize(
    ("page", "parameter", "text", "field", "value"),
    [
        ("dependency_heads", "which", "wrong", "guesses", "wrong"),
        ("dependency_heads", "weight", "0.25", "least_weight", 0.25),
        ("dependency_heads", "least", "7", "min_count", 7),
        ("dependency_heads", "merge", "true", "merge_subtypes", True),
        ("dependency_heads", "sentence_page", "3", "page", 3),
        ("coreference_heads", "over", "0.1", "least_weight", 0.1),
        ("coreference_heads", "document_search", "she", "search", "she"),
        ("coreference_heads", "passage_page", "2", "page", 2),
        ("probes", "probe_search", "dog", "search", "dog"),
        ("probes", "probe_page", "4", "page", 4),
        ("ablation", "mean", "true", "replace", "mean"),
        ("ablation", "uniform", "true", "replace", "uniform"),
        ("ablation", "mean", "false", "replace", "zero"),
    ],
)
def test_links_of_earlier_versions_still_open(page: str, parameter: str, text: str, field: str, value: object) -> None:
    choices, problems = address.parse(kind_of(page), {parameter: text})
    assert (choices, problems) == (replace(kind_of(page)(), **{field: value}), {})


@pytest.mark.parametrize("name", ANALYSES)
def test_what_an_address_takes_command_and_library_take_too(name: str) -> None:
    """The ends of each range and every option are taken by all doors, and what is beyond by none."""
    for kind in (ANALYSES[name].view, ANALYSES[name].options):
        for field in hints(kind):
            if limits := limits_of(kind, field):
                for value in limits[:2]:
                    given = replace(kind(), **{field: required(hints(kind)[field])(value)})
                    given.check()
                    assert address.parse(kind, address.query(given)) == (given, {})
                for value in (limits.low - 1, limits.high + 1):
                    with pytest.raises(SettingsError, match=field):
                        replace(kind(), **{field: value}).check()
            if options_of(kind, field) and not isinstance(getattr(kind(), field), tuple):
                with pytest.raises(SettingsError, match="Choose one of"):
                    replace(kind(), **{field: "nonsense"}).check()


@pytest.mark.parametrize("text", ["1e400", "9" * 5000, "²", "nan", "-1", "1001", ""])
def test_a_number_that_is_none_or_out_of_range_is_a_problem_and_the_default_stays(text: str) -> None:
    kind = kind_of("dependency_heads")
    assert address.parse(kind, {"least_weight": text, "guesses": "right"})[1] == {"least_weight": text}
    assert address.parse(kind, {"offsets": text}) == (kind(), {"offsets": text})


def test_options_heads_and_switches_are_read_as_strictly() -> None:
    asked = {"mode": "Paper", "head": "0-1", "zero": "yes", "weights": "norms"}
    header, problems = address.parse(HeaderChoices, asked)
    assert header == HeaderChoices(weights="norms") and problems.keys() == {"mode", "head", "zero"}


def test_what_an_address_does_not_name_stays_as_in_the_base() -> None:
    base = HeaderChoices(model="mine", seed=3)
    expected = HeaderChoices(model="mine", seed=4)
    assert address.parse(HeaderChoices, {"seed": "4", "foreign": "x"}, base) == (expected, {})


def test_a_long_text_is_cut_in_the_address_alone() -> None:
    choices = AttentionViewerChoices(text="a" * 5000)
    assert address.query(choices) == {"text": "a" * 1000} and len(choices.text) == 5000


def test_a_text_that_no_address_holds_stays_with_the_session_until_another_arrives() -> None:
    long = AttentionViewerChoices(input="own text", text="the cat " * 300, first=41)
    read, problems = address.parse(AttentionViewerChoices, address.query(long))
    assert len(read.text) == 1000 and not problems
    assert address.with_long_texts(read, long) == long
    assert address.with_long_texts(read, AttentionViewerChoices(text="the dog " * 300)) == read
    other = AttentionViewerChoices(text="The cat.")
    assert address.with_long_texts(other, long) == other
