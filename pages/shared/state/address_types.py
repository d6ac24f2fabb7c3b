"""What an address can hold: the base class of a reader's choices, and the types of their fields. Nothing here knows
Streamlit.

The type of a field says which texts of an address it takes: a `Literal` its options, `Annotated` the range of a number
or the number of characters of a text. `address.py` reads and writes them.
"""

from dataclasses import dataclass, fields
from functools import cache
from typing import Annotated, Literal, NamedTuple


class Between(NamedTuple):
    """The range of a number.

    Attributes:
        low: The lowest number.
        high: The highest number.
    """

    low: float
    high: float


class Longest(NamedTuple):
    """How much of a text an address holds.

    Attributes:
        characters: The number of characters; a longer text is cut there.
    """

    characters: int


MAX_CHARACTERS = 1000  # of each of the viewer's texts in an address
MAX_SENTENCE = 300  # characters of the overview's sentence
MOST = 10**9 - 1  # the largest whole number of an address
Positive = Annotated[int, Between(1, MOST)]
Count = Annotated[int, Between(0, MOST)]
Share = Annotated[float, Between(0.0, 1.0)]
Text = Annotated[str, Longest(MAX_CHARACTERS)]
Right = Literal["all", "right", "wrong"]
Order = Literal["most confident first", "least confident first", "file order"]
Direction = Literal["dependent->governor", "governor->dependent"]
MentionDirection = Literal["mention->antecedent", "antecedent->mention"]
Side = Literal["one head", "two heads", "two models", "weights and norms"]


@dataclass(frozen=True)
class Choices:
    """What an address holds of one part of the app."""

    @classmethod
    def parameter(cls, field: str) -> str:
        """The name of a field in the address, which is also the key of its widget."""
        return field


@cache
def field_names(kind: type[Choices]) -> frozenset[str]:
    """The names of all fields of a kind of choices."""
    return frozenset(field.name for field in fields(kind))
