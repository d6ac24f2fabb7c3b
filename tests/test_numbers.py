"""Numbers as they are shown: none is rounded to nothing without a word."""

import math

import pytest

from bertviz_core.numbers import column_decimals, fixed, measured, number


@pytest.mark.parametrize(
    ("value", "decimals", "shown"),
    [
        (0.9, 3, "0.900"),
        (1234.5678, 3, "1,234.568"),
        (0.0, 3, "0.000"),
        (0.0006, 3, "0.001"),
        (3e-8, 3, "< 0.001"),
        (-3e-8, 3, "> -0.001"),
        (0.02, 1, "< 0.1"),
        (math.nan, 3, "–"),
    ],
)
def test_columns_have_fixed_decimals(value: float, decimals: int, shown: str) -> None:
    assert fixed(value, decimals) == shown


@pytest.mark.parametrize(
    ("value", "half", "shown"),
    [
        (1.4163, 0.0096, "1.4163 ± 0.0096"),
        (0.00244, 8.2e-5, "0.002440 ± 0.000082"),
        (1234.5, 123.0, "1,234 ± 120"),
        (3.1e-8, 2.2e-9, "3.10e-08 ± 2.2e-09"),
        (1.3e-5, 9e-7, "1.300e-05 ± 9.0e-07"),
        (0.0, 9e-7, "0.0e+00 ± 9.0e-07"),
        (0.9999, 0.0996, "1.00 ± 0.10"),
        (0.25, math.nan, "0.250 ± –"),
        (0.25, None, "0.250 ± –"),
        (0.25, 0.0, "0.250 ± 0"),
    ],
)
def test_a_value_has_the_precision_of_its_interval(value: float, half: float | None, shown: str) -> None:
    assert measured(value, half) == shown


@pytest.mark.parametrize(
    ("value", "half", "shown"),
    [
        (0.79, 0.0751, "+79.0% ± 7.5%"),
        (0.31, 0.176, "+31% ± 18%"),
        (-0.5, math.nan, "-50.0% ± –"),
        (0.0, 0.0, "+0.0% ± 0"),
    ],
)
def test_a_share_has_it_in_percent(value: float, half: float, shown: str) -> None:
    assert measured(value, half, "+", percent=True) == shown


@pytest.mark.parametrize(
    ("largest", "decimals"), [(31.0, 3), (0.5, 3), (0.1, 3), (0.05, 4), (0.00423, 5), (0.0, 3), (1e-20, 9)]
)
def test_a_column_of_small_numbers_has_more_decimals(largest: float, decimals: int) -> None:
    assert column_decimals(largest) == decimals


@pytest.mark.parametrize(
    ("value", "sign", "shown"),
    [
        (41.04, "", "41.0"),
        (1234.56, "", "1,234.6"),
        (-50.42, "+", "-50.4"),
        (4.628, "", "4.628"),
        (0.0121, "+", "+0.0121"),
    ],
)
def test_a_number_alone(value: float, sign: str, shown: str) -> None:
    assert number(value, sign) == shown
