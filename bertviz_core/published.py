"""Heads that papers have named, of the models that they have named them in (assets/published.toml)."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from bertviz_core.heads import Head
from bertviz_core.numbers import number, percentage

PATH = Path(__file__).parent / "assets" / "published.toml"
MAIN = (None, "main")  # what a model's revision is that no other one is asked for


@dataclass(frozen=True)
class Paper:
    """Where heads are named.

    Attributes:
        name: As it is cited in a sentence.
        title: Of the paper, or of the repository.
        page: Its address.
    """

    name: str
    title: str
    page: str


@dataclass(frozen=True)
class PublishedHead:
    """A head that a paper has named.

    Attributes:
        role: What it is named, as "name mover".
        quantity: The analysis here and its column that measure this, as "weights.copy"; empty where none does.
        value: In the unit of `measure`; None where no number was found in two places.
        measure: What the value is of; empty without one.
    """

    head: Head
    role: str
    paper: Paper
    quantity: str = ""
    value: float | None = None
    measure: str = ""

    @property
    def text(self) -> str:
        """The role with the number, as "induction (prefix matching 0.93)"."""
        if self.value is None:
            return self.role
        shown = percentage(self.value) if self.measure.startswith(("accuracy", "share")) else number(self.value)
        return f"{self.role} ({self.measure} {shown})"


@cache
def _papers() -> tuple[Mapping[str, Any], ...]:
    return tuple(tomllib.loads(PATH.read_text(encoding="utf-8"))["papers"])


def published_heads(model: Mapping[str, Any]) -> tuple[PublishedHead, ...]:
    """The heads that papers have named in a model, in the order of the file; none of a model that is not known.

    A model of the hub is known by its name, its revision and its shape alone: what its files are is not compared.

    Args:
        model: The model in the provenance of a result.
    """
    return tuple(
        _read(row, paper)
        for paper in _papers()
        if model.get("of_hub")
        and model["name"].partition("@")[0] in paper["models"]
        and model.get("revision") in MAIN
        and [model["layers"], model["heads"]] == paper["shape"]
        for row in paper["heads"]
    )


def _read(row: Mapping[str, Any], paper: Mapping[str, Any]) -> PublishedHead:
    source = Paper(paper["name"], paper["title"], paper["page"])
    return PublishedHead(paper=source, **{**row, "head": Head.parse(row["head"])})


def named_text(heads: tuple[PublishedHead, ...]) -> str:
    """What papers have named one head, as "Papers name it: name mover by Wang et al. 2023."; empty where none has.

    Args:
        heads: The rows about the head.
    """
    named = [f"{each.text} by {each.paper.name}" for each in heads]
    return f"Papers name it: {'; '.join(named)}." if named else ""
