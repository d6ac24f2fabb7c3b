"""The runs that Compare offers, and which of them is most like another. Nothing here knows Streamlit."""

from typing import NamedTuple, Self


class Run(NamedTuple):
    """A run that can be compared.

    Attributes:
        model: The fingerprint of its model.
        settings: Its settings and options, as pairs of a name and a value.
        corpus: The digest of its corpus.
        is_sample: Whether that ships.
    """

    name: str
    model: str = ""
    settings: frozenset[tuple[str, str]] = frozenset()
    corpus: str = ""
    is_sample: bool = True

    def distance_from(self, other: Self) -> tuple[bool, bool]:
        """A key that is low where the corpus is the same, then where it ships."""
        return self.corpus != other.corpus, not self.is_sample

    def difference_from(self, other: Self) -> tuple[int, bool, bool]:
        """A key that is low where settings are the same, then for `distance_from`."""
        return len(self.settings ^ other.settings), *self.distance_from(other)


RELATIVE = "A:"  # begins the address of what is run A but for one part, as "A:mode=paper"
Runs = dict[str, dict[str, Run]]  # analysis -> address -> run


def same_run(address: str | None, runs: Runs, offered: dict[str, Run]) -> str | None:
    """The offered run with an address, or the one most like the run that has it, of the same model; the address itself
    where that model has none yet, or where it is relative to run A; None for an address of nothing."""
    if address is None or address in offered or address.startswith(RELATIVE):
        return address
    known = next((listed[address] for listed in runs.values() if address in listed), None)
    if known is None:
        return None
    alike = {key: run for key, run in offered.items() if run.model == known.model}
    return min(alike, key=lambda key: alike[key].difference_from(known)) if alike else address
