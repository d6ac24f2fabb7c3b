"""What a reader chooses of a stored result: on its page, in its address, as options of its command, as keywords of the
library."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Generic, Self, TypeVar

from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import Result, choosing
from bertviz_core.choices import Choices
from bertviz_core.errors import SettingsError
from bertviz_core.heads import Head

R = TypeVar("R", bound=Result)
Find = Callable[[Request], Result | None]  # the stored result of a request; None where none is stored


@dataclass(frozen=True)
class View(Choices, Generic[R]):
    """How a stored result is shown, and what is reported of it, without computing it again; R is the class of what is
    shown.

    Subclasses add fields as `Options` do. A field is None where its default follows the result; one named `head` is the
    head that the reader has chosen for all pages.

    Attributes:
        target: The field that a link to one of the things of the page sets, as a relation; empty without one.
        marks_named_heads: Whether `beside` reads the heads that other analyses name.
    """

    target: ClassVar[str] = ""
    marks_named_heads: ClassVar[bool] = False

    def beside(self, request: Request, find: Find) -> Any:
        """What `show` needs beside the result of a request: of other stored results, None where it needs none.

        Args:
            request: The request for the result.
            find: Reads the stored result of another request; None where none is stored.

        Raises:
            SettingsError: What was chosen needs a result that is not stored.
        """
        return None

    def alone(self) -> Self:
        """The same without what needs other stored results."""
        return self

    def show(self, result: Any, beside: Any = None) -> R:
        """Prepare a stored result as it is shown, printed and written; `beside` is what `beside` returned."""
        shown: R = result
        return shown

    def showing(self) -> Self:
        """The same with the choices alone that `show` depends on, so that what it prepares is prepared once."""
        return type(self)()

    def offered(self, shown: R) -> dict[str, Sequence[str]]:
        """The options of the fields whose options follow the result, by name."""
        return {}

    def option_text(self, shown: R, field: str, option: str) -> str:
        """An option of `offered` as a reader sees it."""
        return option

    def shape(self, shown: R) -> tuple[int, int] | None:
        """(layers, heads) of what is shown; None where no head is reported."""
        return None

    def resolve(self, shown: R) -> Self:
        """The same with a value in place of each None, and of each that the result does not have."""
        return self

    def choose(self, shown: R) -> R:
        """What is shown, with what is reported of it (see `choosing`).

        Raises:
            SettingsError: The result lacks what is chosen.
        """
        for name, options in self.offered(shown).items():
            if (value := getattr(self, name)) is not None and value not in options:
                hint = f"Choose one of {', '.join(options)}." if options else "This result has none."
                raise SettingsError(f"There is no {name} {value!r}.", hint=hint)
        resolved = self.resolve(shown)
        shape = self.shape(shown)
        if shape and (head := resolved.head_of()):
            head.check(*shape)
        return choosing(shown, resolved, **resolved.reported(shown))

    def head_of(self) -> Head | None:
        """The chosen head; None where none is."""
        head = getattr(self, "head", None)
        return None if head is None else Head.parse(head)

    def chosen_head(self) -> Head:
        """The chosen head of a view that is resolved, of a result that has heads."""
        head = self.head_of()
        assert head is not None, "a resolved view has a head"
        return head

    def reported(self, shown: R) -> dict[str, Any]:
        """What is chosen, by name, as files say it; what is still open is left out."""
        return {each.name: value for each in fields(self) if (value := getattr(self, each.name)) is not None}

    def opening_head(self, result: Any) -> Head | None:
        """The head that is best at what is chosen of a stored result; None where the result does not say."""
        return None
