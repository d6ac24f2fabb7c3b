"""What a reader chooses of a training: on its page, in its address, as options of its command."""

from dataclasses import dataclass, replace
from typing import Annotated, Self

from typing_extensions import Doc

from bertviz_core.choices import Choices, Count, Formerly
from bertviz_core.emergence.result import MAX_RELATIONS, Emergence


@dataclass(frozen=True)
class EmergenceView(Choices):
    """A step of a training, and relations that are followed over it; None for what the training opens on."""

    step: Annotated[Count | None, Formerly("at_step"), Doc("The step to report; default: the last.")] = None
    relations: Annotated[
        tuple[str, ...] | None,
        Formerly("relations_of"),
        Doc("Relations to report, separated by commas; default: the clearest."),
    ] = None

    def resolve(self, result: Emergence) -> Self:
        """The same with a step of the training, its last in place of another one, and relations that it has."""
        step = self.step if self.step in result.steps.tolist() else int(result.steps[-1])
        chosen = result.opening_relations if self.relations is None else self.relations
        known = [name for name in chosen if name in result.relations]
        return replace(self, step=step, relations=tuple(known[:MAX_RELATIONS]))
