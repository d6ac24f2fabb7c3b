"""The folder of every analysis has the same files, and only what measures imports torch."""

import ast
import re
from pathlib import Path

import pytest

from bertviz_core.analyses.base.registry import BUILT_IN

ANALYSES = Path(__file__).parents[2] / "bertviz_core" / "analyses"
FILES = {"__init__", "analysis", "result", "figure", "measure"}  # and, where it says anything, statements
HEAVY = {"torch", "transformers"}


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported_at_the_top(path: Path) -> set[str]:
    """Names of the modules that a file imports when it is imported; of `from a import b` both a and a.b."""
    found = set()
    for node in tree(path).body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def names_imported(path: Path, package: str) -> set[str]:
    """Names of the modules of a package that a file imports, at its top or in a function."""
    found = {str(node.module) for node in ast.walk(tree(path)) if isinstance(node, ast.ImportFrom)}
    return {name.removeprefix(package) for name in found}


def is_heavy(path: Path) -> bool:
    return any(name.partition(".")[0] in HEAVY for name in imported_at_the_top(path))


def test_every_analysis_is_in_a_folder_of_its_name() -> None:
    folders = {path.parent.name for path in ANALYSES.glob("*/analysis.py")} - {"base"}
    assert folders == set(BUILT_IN)


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_folder_has_the_files(name: str) -> None:
    missing = FILES - {path.stem for path in (ANALYSES / name).glob("*.py")}
    assert not missing, f"bertviz_core/analyses/{name} needs them, as CONTRIBUTING.md says of an analysis"
    assert type(BUILT_IN[name]).__module__ == f"bertviz_core.analyses.{name}.analysis"
    assert BUILT_IN[name].result_class.__module__ == f"bertviz_core.analyses.{name}.result"
    assert BUILT_IN[name].result_class.analysis == name


def test_every_number_of_the_overview_has_a_name_of_its_own() -> None:
    """The finder and the tables of all numbers name a column by its label alone."""
    labels = [column.label for analysis in BUILT_IN.values() for column in analysis.columns if column.overview]
    assert [label for label in labels if labels.count(label) > 1] == []


@pytest.mark.parametrize("name", BUILT_IN)
def test_only_what_measures_imports_torch(name: str) -> None:
    """That is measure.py, and what nothing else imports than measure.py, anywhere in it, and other such modules."""
    paths = {path.stem: path for path in (ANALYSES / name).glob("*.py")}
    module = f"bertviz_core.analyses.{name}."
    imports = {
        stem: {each.removeprefix(module) for each in imported_at_the_top(path) if each.startswith(module)}
        for stem, path in paths.items()
    }
    measuring = {"measure", *(set(paths) & names_imported(paths["measure"], module))}
    while more := {stem for stem in paths if any(stem in imports[other] for other in measuring)} - measuring:
        measuring |= more
    light = set(paths) - {stem for stem, path in paths.items() if is_heavy(path)}
    assert is_heavy(paths["measure"])
    assert set(paths) - light <= measuring
    for stem in FILES & set(paths) - {"measure"}:
        assert stem in light, stem
        assert imports[stem] & set(paths) <= light, stem


@pytest.mark.parametrize("name", BUILT_IN)
def test_its_quantity_is_worked_out_by_hand(name: str) -> None:
    """A test has the arithmetic of a small example in its docstring, from which a reader learns the quantity."""
    tests = Path(__file__).parent / name
    functions = [node for path in tests.glob("test_*.py") for node in ast.walk(tree(path))]
    worked = [node for node in functions if getattr(node, "name", "") == "test_worked_example"]
    assert len(worked) == 1, f"tests/analyses/{name} needs one function test_worked_example"
    docstring = ast.get_docstring(worked[0]) or ""
    assert re.search(r"\d [-+*/] \d", docstring), "its docstring needs the arithmetic, with spaces, as (0.5 + 1) / 2"


@pytest.mark.parametrize("folder", ["", "base", "run", *BUILT_IN])
def test_what_marks_a_package_has_no_code(folder: str) -> None:
    body = tree(ANALYSES / folder / "__init__.py").body
    assert all(isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) for node in body)
