"""Choices as an address: every value comes back from its parameters, and what is none is named."""

from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from urllib.parse import parse_qsl, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as some

from bertviz_core.heads import Head
from pages.shared.state import address
from pages.shared.state.address_types import Between, Choices, Longest
from pages.shared.state.analysis_choices import (
    ClusteringChoices,
    DependencyHeadsChoices,
    EntropyChoices,
    SepGradientsChoices,
)
from pages.shared.state.choices import AttentionViewerChoices, HeaderChoices
from pages.shared.state.kinds import PAGES, kind_of

KINDS: tuple[type[Choices], ...] = (HeaderChoices, *PAGES, kind_of("induction"))
TEXT = some.text(some.characters(exclude_categories=["Cs"]), max_size=80)
PART = some.text(some.characters(exclude_categories=["Cs"], exclude_characters=","), min_size=1, max_size=20)


def values(hint: Any) -> some.SearchStrategy[Any]:
    """Values that a field of this type may have."""
    if get_origin(hint) in (Union, UnionType):
        return some.one_of(*(some.none() if part is NoneType else values(part) for part in get_args(hint)))
    if get_origin(hint) is Annotated:
        return limited(*get_args(hint))
    if get_origin(hint) is Literal:
        return some.sampled_from(get_args(hint))
    if get_origin(hint) is tuple:
        return some.lists(PART, max_size=4).map(tuple)
    number = some.integers(0, 10**9 - 2)
    return {bool: some.booleans(), str: TEXT, Head: some.builds(Head, number, number)}[hint]


def limited(base: type, limit: Between | Longest) -> some.SearchStrategy[Any]:
    if isinstance(limit, Longest):
        return some.text(some.characters(exclude_categories=["Cs"]), max_size=limit.characters)
    if base is int:
        return some.integers(int(limit.low), int(limit.high))
    steps = round((limit.high - limit.low) / 0.05)  # as a slider has them
    return some.integers(0, steps).map(lambda step: round(limit.low + 0.05 * step, 6))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@given(data=some.data())
def test_every_value_comes_back_from_its_address(kind: type[Choices], data: some.DataObject) -> None:
    choices = kind(**{name: data.draw(values(hint), label=name) for name, hint in address.hints(kind).items()})
    parameters = dict(parse_qsl(urlencode(address.query(choices)), keep_blank_values=True))
    assert address.parse(kind, parameters) == (choices, {})


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_defaults_are_in_no_address(kind: type[Choices]) -> None:
    assert address.query(kind()) == {}


def test_parameters_have_the_names_that_links_have_always_had() -> None:
    assert address.query(AttentionViewerChoices(shape="table", head2=Head(2, 4))) == {"as": "table", "head2": "3-5"}
    assert address.query(ClusteringChoices(over_to_sep=0.3)) == {"over-to_sep": "0.3"}
    assert address.query(EntropyChoices(quantity="from_cls")) == {"of": "from_cls"}
    assert address.query(SepGradientsChoices(quantity="to_cls")) == {"gradient": "to_cls"}


@pytest.mark.parametrize("text", ["1e400", "9" * 5000, "²", "nan", "-1", "1001", ""])
def test_a_number_that_is_none_or_out_of_range_is_a_problem_and_the_default_stays(text: str) -> None:
    assert address.parse(DependencyHeadsChoices, {"weight": text, "which": "right"})[1] == {"weight": text}
    chosen, problems = address.parse(DependencyHeadsChoices, {"offsets": text})
    assert (chosen, problems) == (DependencyHeadsChoices(), {"offsets": text})


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
