"""What is public is documented where help() shows it: functions and classes, attributes, and the axes of arrays."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
ARRAY = re.compile(r"Tensor|ndarray")
AXIS = r"(?:\.\.\.|[\w\d][\w' +*-]*)"
AXES = re.compile(rf"\({AXIS}(?:, {AXIS})*,?\)|\bscalars?\b|\bshapes?\b")  # (layer, head), or words for these
FIELD = r"^ *(?:\w+, )*{}(?:, \w+)*: "  # in the section Attributes; two of one kind may share a line

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


def found() -> Iterator[Public]:
    for part in ("bertviz_core", "pages"):
        for path in sorted((ROOT / part).rglob("*.py")):
            yield from public(ast.parse(path.read_text(encoding="utf-8")).body, path.relative_to(ROOT).as_posix())


PUBLIC = list(found())
CLASSES = {each.node.name: each.node for each in PUBLIC if isinstance(each.node, ast.ClassDef)}


def bases(node: ast.ClassDef) -> Iterator[ast.ClassDef]:
    """The project's classes that a class extends, by their names."""
    for base in node.bases:
        name = ast.unparse(base).partition("[")[0].rpartition(".")[2]
        if name in CLASSES and CLASSES[name] is not node:
            yield CLASSES[name]
            yield from bases(CLASSES[name])


def is_documented(each: Public) -> bool:
    """Whether it, or the method that it overrides, has a docstring."""
    inherited = bases(each.owner) if each.owner else ()
    same = [node for base in inherited for node in base.body if getattr(node, "name", "") == each.node.name]
    is_declared = ast.unparse(each.node.body[-1]) == "..."  # of a protocol, whose docstring says what it is
    return (
        is_declared or bool(each.text) or any(isinstance(node, Definition) and ast.get_docstring(node) for node in same)
    )


def undocumented_fields(node: ast.ClassDef) -> Iterator[str]:
    """Annotated attributes that neither the class nor a base documents, nor a `Doc` or a help text beside them."""
    texts = [ast.get_docstring(each) or "" for each in (node, *bases(node))]
    for field in node.body:
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            name = field.target.id
            is_beside = re.search(r"\bDoc\(|\bhelp=", ast.unparse(field.annotation))
            is_told = any(re.search(FIELD.format(name), text, re.M) for text in texts)
            if not (name.startswith("_") or is_beside or is_told):
                yield name


def test_what_is_public_has_a_docstring() -> None:
    assert len(PUBLIC) > 1500
    assert [each.place for each in PUBLIC if not is_documented(each)] == []


def test_attributes_are_documented_in_the_docstring_of_their_class() -> None:
    """A comment beside an attribute is seen by no tool."""
    missing = {
        each.place: names
        for each in PUBLIC
        if isinstance(each.node, ast.ClassDef) and (names := list(undocumented_fields(each.node)))
    }
    assert missing == {}


def test_the_docstring_of_what_takes_or_gives_arrays_has_their_axes() -> None:
    missing = []
    for each in PUBLIC:
        if isinstance(each.node, ast.FunctionDef):
            arguments = [*each.node.args.args, *each.node.args.kwonlyargs]
            hints = [each.node.returns, *(argument.annotation for argument in arguments)]
            has_arrays = any(hint is not None and ARRAY.search(ast.unparse(hint)) for hint in hints)
            if has_arrays and not AXES.search(each.text):
                missing.append(each.place)
    assert missing == []
