"""What is public is documented where help() shows it: what functions and classes do, the axes of arrays, units, and
what a name does not say. An entry that restates the name is noise."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
ARRAY = re.compile(r"Tensor|ndarray")
AXIS = r"(?:\.\.\.|[\w\d][\w' +*-]*)"
AXES = re.compile(rf"\({AXIS}(?:, {AXIS})*,?\)|\bscalars?\b|\bshapes?\b")  # (layer, head), or words for these
# Fields whose name and type do not say what they hold: axes, a unit or a range, what a function takes.
UNTOLD = re.compile(r"Tensor|ndarray|\bfloat\b|\bCallable\b|\bAny\b")
ENTRY = re.compile(r"^    (?P<names>\w+(?:, \w+)*): (?P<text>.*(?:\n {5,}.*)*)", re.MULTILINE)  # names may share a line
FILLERS = set(
    re.findall(
        r"\w+",
        "a all an and are as at be by each for from have has in into is it its number of on one or own that the their "
        "them there they this to what where which with",
    )
)

Definition = ast.FunctionDef | ast.ClassDef


class Public(NamedTuple):
    """A public function, method or class.

    Attributes:
        place: Where it is defined, for messages.
        node: Its definition.
        owner: The class of a method; None of others.
    """

    place: str
    node: Definition
    owner: ast.ClassDef | None

    @property
    def text(self) -> str:
        return ast.get_docstring(self.node) or ""


def public(body: list[ast.stmt], place: str, owner: ast.ClassDef | None = None) -> Iterator[Public]:
    """What is public in a module or class, and in its classes."""
    for node in body:
        if isinstance(node, Definition) and not node.name.startswith("_"):
            yield Public(f"{place} {node.name}", node, owner)
            if isinstance(node, ast.ClassDef):
                yield from public(node.body, f"{place} {node.name}", node)


@cache
def everything() -> list[Public]:
    """What is public in the core and in pages."""
    paths = [path for part in ("bertviz_core", "pages") for path in sorted((ROOT / part).rglob("*.py"))]
    trees = {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in paths}
    return [each for place, tree in trees.items() for each in public(tree.body, place)]


@cache
def classes() -> dict[str, ast.ClassDef]:
    return {each.node.name: each.node for each in everything() if isinstance(each.node, ast.ClassDef)}


def bases(node: ast.ClassDef) -> Iterator[ast.ClassDef]:
    """The project's classes that a class extends, by their names."""
    for base in node.bases:
        name = ast.unparse(base).partition("[")[0].rpartition(".")[2]
        if name in classes() and classes()[name] is not node:
            yield classes()[name]
            yield from bases(classes()[name])


def is_documented(each: Public) -> bool:
    """Whether it, or the method that it overrides, has a docstring."""
    inherited = bases(each.owner) if each.owner else ()
    same = [node for base in inherited for node in base.body if getattr(node, "name", "") == each.node.name]
    is_declared = ast.unparse(each.node.body[-1]) == "..."  # of a protocol, whose docstring says what it is
    return (
        is_declared or bool(each.text) or any(isinstance(node, Definition) and ast.get_docstring(node) for node in same)
    )


def entries(node: Definition) -> Iterator[tuple[str, str]]:
    """(name, text) of what the sections Args and Attributes of a docstring say."""
    _, *sections = re.split(r"^(?:Args|Attributes):\n", ast.get_docstring(node) or "", flags=re.MULTILINE)
    for section in sections:
        for entry in ENTRY.finditer(re.split(r"^\S", section, maxsplit=1, flags=re.MULTILINE)[0]):
            yield from ((name, " ".join(entry["text"].split())) for name in entry["names"].split(", "))


def fields(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """(name, type) of the public annotated attributes of a class."""
    for field in node.body:
        if isinstance(field, ast.AnnAssign) and not ast.unparse(field.target).startswith("_"):
            yield ast.unparse(field.target), ast.unparse(field.annotation)


def untold_fields(node: ast.ClassDef) -> Iterator[str]:
    """Attributes that need words and have none in the class or a base, or beside them in a `Doc` or a help text; and
    arrays whose words do not name the axes."""
    texts = {name: text for each in (*bases(node), node) for name, text in entries(each)}
    of_all = (ast.get_docstring(node) or "").partition("\n\nAttributes:")[0]  # It may give the axes of all fields.
    for name, hint in fields(node):
        is_told = re.search(r"\bDoc\(|\bhelp=", hint) or name in texts
        lacks_axes = ARRAY.search(hint) and not AXES.search(of_all + texts.get(name, ""))
        if UNTOLD.search(hint) and (lacks_axes or not is_told):
            yield name


def bare(text: str) -> set[str]:
    """The words of a text, or of names, without their plural's s."""
    split = re.sub(r"([a-z])([A-Z])", r"\1 \2", text).replace("_", " ")
    return {word.rstrip("s") for word in re.findall("[a-z]+", split.lower())}


def restating_entries(node: Definition) -> Iterator[str]:
    """Entries in which there is no word but those of the names, as "model: The model.": no number, axis or constant."""
    arguments = [*node.args.args, *node.args.kwonlyargs] if isinstance(node, ast.FunctionDef) else []
    hints = {each.arg: ast.unparse(each.annotation) for each in arguments if each.annotation}
    hints |= dict(fields(node)) if isinstance(node, ast.ClassDef) else {}
    for name, text in entries(node):
        repeated_words = bare(f"{' '.join(FILLERS)} {name} {node.name} {hints.get(name, '')}")
        if not re.search(r"[\d(`]|\b[A-Z]{2,}", text) and bare(text) <= repeated_words:
            yield f"{name}: {text}"


def test_what_is_public_has_a_docstring() -> None:
    assert len(everything()) > 1500
    assert [each.place for each in everything() if not is_documented(each)] == []


def test_attributes_say_what_their_names_do_not() -> None:
    """A comment beside an attribute is seen by no tool."""
    missing = {
        each.place: names
        for each in everything()
        if isinstance(each.node, ast.ClassDef) and (names := list(untold_fields(each.node)))
    }
    assert missing == {}, "give axes, a unit or a range, or what a function takes"


def test_no_entry_restates_a_name() -> None:
    restating = {each.place: found for each in everything() if (found := list(restating_entries(each.node)))}
    assert restating == {}, "say what the name, the type and its `Doc` do not, or nothing"


def test_the_docstring_of_what_takes_or_gives_arrays_has_their_axes() -> None:
    missing = []
    for each in everything():
        if isinstance(each.node, ast.FunctionDef):
            arguments = [*each.node.args.args, *each.node.args.kwonlyargs]
            hints = [each.node.returns, *(argument.annotation for argument in arguments)]
            has_arrays = any(hint is not None and ARRAY.search(ast.unparse(hint)) for hint in hints)
            if has_arrays and not AXES.search(each.text):
                missing.append(each.place)
    assert missing == [], "say the axes of its arrays, as (layer, head)"
