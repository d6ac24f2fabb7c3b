"""An analysis alone knows its name: no other file has it as text, so that what a built-in one can do, a plugin can."""

import ast
from pathlib import Path

from bertviz_core.analyses.base.registry import BUILT_IN

ROOT = Path(__file__).parents[1]
WAY_OUT = (
    "ask the analysis for what is said of it; read a certain result by its class, as in results[Entropy.analysis]; "
    "where the text is no name of an analysis, list the file in QUANTITIES"
)
# Where all names stand: the registry, and the paper's numbers.
FREE = {"bertviz_core/analyses/base/entry_points.py", "bertviz_core/paper.py"}
# Files in which such a name is that of a quantity or a behavior, a setting, or a word of other texts
QUANTITIES = {
    "bertviz_core/analyses/behaviors.py": {"entropy", "induction"},
    "bertviz_core/analyses/clustering/figure.py": {"entropy"},
    "bertviz_core/emergence/result.py": {"entropy"},
    "bertviz_core/plotting/__init__.py": {"induction"},
    "bertviz_core/analyses/base/result.py": {"weights"},
    "bertviz_core/analyses/dependency_heads/measure.py": {"weights"},
    "bertviz_core/analyses/dependency_heads/sentences.py": {"weights"},
    "bertviz_core/analyses/probes/measure.py": {"weights"},
    "bertviz_core/analyses/probes/result.py": {"weights"},
    "bertviz_core/analyses/surface_patterns/result.py": {"weights"},
    "bertviz_core/analyses/surface_patterns/statements.py": {"weights"},
    "bertviz_core/api_arrays.py": {"weights"},
    "pages/shared/views/compare_view.py": {"weights"},
    "bertviz_core/cli/commands.py": {"weights"},
    "bertviz_core/cli/input_commands.py": {"weights"},
    "bertviz_core/comparison/change.py": {"weights"},
    "bertviz_core/engine/first_opening.py": {"weights"},
    "bertviz_core/overview/stored_results.py": {"weights"},
    "bertviz_core/paper_report/report.py": {"weights"},
    "bertviz_core/viewer/files.py": {"weights"},
    "pages/shared/frame/context.py": {"weights"},
    "pages/shared/preview.py": {"weights"},
    "pages/shared/views/missing_runs.py": {"weights"},
    "pages/shared/views/viewer_panes.py": {"weights"},
}


def names_in(path: Path) -> set[str]:
    """The names of analyses that are string literals of a file: whole ones, as keys and arguments are."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return {str(node.value) for node in nodes if isinstance(node, ast.Constant)} & set(BUILT_IN)


def foreign_names() -> dict[str, set[str]]:
    """File -> names of analyses that it has and that are not its own, by its folder or its page."""
    found = {}
    for path in sorted(path for part in ("bertviz_core", "pages") for path in (ROOT / part).rglob("*.py")):
        file = path.relative_to(ROOT).as_posix()
        own = {path.parent.name, path.stem if path.parent == ROOT / "pages" else ""}
        if file not in FREE and (names := names_in(path) - own):
            found[file] = names
    return found


def test_no_file_names_an_analysis_that_is_not_its_own() -> None:
    new = {file: names - QUANTITIES.get(file, set()) for file, names in foreign_names().items()}
    assert {file: names for file, names in new.items() if names} == {}, WAY_OUT


def test_files_that_name_a_quantity_do() -> None:
    found = foreign_names()
    assert {file: found.get(file) for file in QUANTITIES} == QUANTITIES
