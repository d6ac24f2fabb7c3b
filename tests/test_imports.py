"""Imports run one way: no circle of files or packages, and nothing against the layers.

Read from the syntax trees, so that imports inside functions and under TYPE_CHECKING count as any other.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAYERS = (  # a module may import its own layer and those above it in this list
    ("bertviz_core.errors", "bertviz_core.import_lock", "bertviz_core.version"),
    ("bertviz_core.access", "bertviz_core.heads", "bertviz_core.numbers", "bertviz_core.paper"),
    ("bertviz_core.settings",),
    ("bertviz_core.corpora",),
    ("bertviz_core.models",),
    ("bertviz_core.engine", "bertviz_core.plotting"),
    ("bertviz_core.analyses",),
    ("bertviz_core.overview",),
    ("bertviz_core.emergence", "bertviz_core.tour"),
    ("bertviz_core.comparison",),
    ("bertviz_core.exports",),
    ("bertviz_core.viewer",),
    ("bertviz_core.paper_report",),
    ("bertviz_core.tasks",),
    ("bertviz_core.api_results",),
    ("bertviz_core.api",),
    ("bertviz_core.cli",),
    ("bertviz_core",),  # whose names are the library's, loaded when they are used
    ("pages.shared",),
    ("pages",),
    ("app", "bertviz_core.__main__", "bertviz_core.assets"),
)
MATHEMATICS = {"math", "numpy", "scipy", "sklearn", "statistics", "torch"}

Imports = Mapping[str, set[str]]


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {name_of(path): path for part in ("bertviz_core", "pages") for path in (ROOT / part).rglob("*.py")}
MODULES["app"] = ROOT / "app.py"


def imported(tree: ast.AST, module: str = "", is_package: bool = False) -> Iterator[str]:
    """Dotted names of what a file imports, at any depth; of `from a import b` both a.b and a."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = module.split(".")[: None if is_package else -1]
            start = parts[: len(parts) - node.level + 1] if node.level else []
            source = ".".join([*start, *filter(None, [node.module])])
            yield from (f"{source}.{alias.name}" for alias in node.names)
            yield source


def own_modules(names: Iterable[str]) -> set[str]:
    """The project's modules among the names of one statement, without packages of which a module is named."""
    known = set(names) & set(MODULES)
    return {name for name in known if not any(other.startswith(f"{name}.") for other in known)}


def imports_of(module: str) -> set[str]:
    path = MODULES[module]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= own_modules(imported(node, module, path.name == "__init__.py"))
    return found - {module}


IMPORTS = {module: imports_of(module) for module in MODULES}


def circle(graph: Imports) -> list[str]:
    """Modules that import one another in a circle, empty where there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def children(package: str) -> dict[str, set[str]]:
    """What each module or package directly inside a package imports of its siblings."""
    size = len(package.split(".")) + 1
    graph: dict[str, set[str]] = {}
    for module, found in IMPORTS.items():
        if module.startswith(f"{package}."):
            sibling = ".".join(module.split(".")[:size])
            inside = {".".join(name.split(".")[:size]) for name in found if name.startswith(f"{package}.")}
            graph.setdefault(sibling, set()).update(inside - {sibling})
    return graph


def layer_of(module: str) -> int:
    """The layer whose longest name the module's begins with."""
    matches = [
        (len(name), number)
        for number, names in enumerate(LAYERS)
        for name in names
        if module == name or (name != "bertviz_core" and module.startswith(f"{name}."))
    ]
    assert matches, f"{module} is in no layer"
    return max(matches)[1]


def test_no_circle_of_files():
    assert circle(IMPORTS) == []


@pytest.mark.parametrize("package", sorted({module.rpartition(".")[0] for module in MODULES} - {""}))
def test_no_circle_of_packages(package):
    assert circle(children(package)) == []


def test_imports_run_down_the_layers():
    upward = [
        f"{module} imports {name}"
        for module, names in IMPORTS.items()
        for name in names
        if layer_of(name) > layer_of(module)
    ]
    assert upward == []


def test_pages_have_no_mathematics():
    scripts = [module for module in MODULES if module.startswith("pages.") and module.count(".") == 1]
    assert len(scripts) > 10
    for module in set(scripts) - {"pages.shared"}:
        names = imported(ast.parse(MODULES[module].read_text(encoding="utf-8")))
        assert not {name.partition(".")[0] for name in names} & MATHEMATICS, module


def test_no_module_hides_a_public_name():
    """Importing a submodule sets an attribute of its package, which must not be one of the package's functions."""
    import bertviz_core

    assert not {f"bertviz_core.{name}" for name in bertviz_core.__all__} & set(MODULES)
