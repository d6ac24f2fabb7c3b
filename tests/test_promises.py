"""What the project promises of its imports and of pickle, proved rather than said."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from bertviz_core.analyses.request import Request
from bertviz_core.analyses.requests import compute
from bertviz_core.models import checkpoint

ROOT = Path(__file__).parent.parent
CORE = ROOT / "bertviz_core"
HEAVY = ("torch", "transformers")


def modules(*parts: str) -> list[str]:
    """Every module of these parts of the core (all of it where none is named)."""
    folders = [CORE / part for part in parts] if parts else [CORE]
    paths = [path for folder in folders for path in folder.rglob("*.py") if "assets" not in path.parts]
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in paths]
    return sorted(name for name in names if not name.endswith("__main__"))


def light(*parts: str) -> list[str]:
    """Modules that show results, and so run without torch: results, figures, and what several analyses share."""
    shown = {"__init__", "analysis", "behaviors", "document_figure", "proportions", "results", "result", "figure"}
    paths = [path for part in parts for path in (CORE / part).rglob("*.py")]
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths if path.stem in shown]
    return sorted(name.removesuffix(".__init__") for name in names)


def imported_by(code: str, *arguments: str) -> set[str]:
    """Names of the top-level modules that a fresh interpreter holds after running the code."""
    show = "\nimport sys; print(*{name.partition('.')[0] for name in sys.modules})"
    command = [sys.executable, "-c", code + show, *arguments]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return set(done.stdout.splitlines()[-1].split())


def importing(names: list[str]) -> set[str]:
    return imported_by("\n".join(f"import {name}" for name in names))


def test_the_core_never_imports_streamlit():
    names = modules()
    assert "bertviz_core.engine.stream" in names
    found = importing(names)
    assert {"bertviz_core", "numpy", "diskcache"} <= found
    assert "streamlit" not in found
    for path in CORE.rglob("*.py"):
        assert "streamlit" not in imports_of(path), path


def test_readers_and_figures_never_import_torch():
    names = [*modules("corpora", "plotting"), *light("analyses", "overview", "viewer", "emergence")]
    assert not importing(names) & set(HEAVY)
    for name in names:
        path = CORE.parent / name.replace(".", "/")
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        assert not imports_of(path) & set(HEAVY), path


@pytest.mark.parametrize("analysis", ["surface_patterns", "entropy", "clustering"])
def test_opening_a_stored_result_imports_neither_torch_nor_transformers(store, source, tiny, tmp_path, analysis):
    text = "the cat sat .\nthe dog slept .\n"
    (tmp_path / "given.txt").write_text(text)
    request = Request(analysis, checkpoint.find(str(tiny.checkpoint.folder)), source(text))
    compute(Request(analysis, request.checkpoint, request.source, small()), store, model=tiny)
    code = """
import sys
from bertviz_core.corpora.source import from_path
from bertviz_core.analyses.requests import Request, find
from bertviz_core.engine.store import Store
from bertviz_core.models import checkpoint
from bertviz_core.settings import Settings
analysis, model, text, folder = sys.argv[1:]
result = find(Store(folder), Request(analysis, checkpoint.find(model), from_path(text), Settings(max_length=32)))
assert result is not None and result.to_frame().shape[0] == 4 and result.arrays()
"""
    arguments = (analysis, str(tiny.checkpoint.folder), str(tmp_path / "given.txt"), str(store.folder))
    found = imported_by(code, *arguments)
    assert "bertviz_core" in found
    assert not found & {*HEAVY, "streamlit", "huggingface_hub"}


def small():
    from bertviz_core.settings import Settings

    return Settings(max_length=32)


def imports_of(path: Path) -> set[str]:
    """Top-level names of everything a file imports at any depth, type checking included."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


def project_files() -> list[Path]:
    """What runs for a user; the benchmarks' transcription of the release pickles its own maps, as the release does."""
    folders = [path for name in ("bertviz_core", "pages") for path in (ROOT / name).rglob("*.py")]
    return [*folders, *ROOT.glob("*.py")]


def test_nothing_is_unpickled_and_no_code_comes_from_a_hub():
    """By the syntax tree, so that a comment or a message about pickles does not count."""
    unpicklers = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
    for path in project_files():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert not imports_of(path) & unpicklers, path
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                assert ast.unparse(node) not in ("torch.load", "pandas.read_pickle", "pd.read_pickle"), path
            if isinstance(node, ast.keyword):
                assert not (node.arg == "trust_remote_code" and ast.unparse(node.value) != "False"), path
                assert not (node.arg == "allow_pickle" and ast.unparse(node.value) != "False"), path


def test_importing_the_package_imports_nothing_heavy():
    found = imported_by("import bertviz_core as bv; bv.__version__; dir(bv)")
    assert not found & {*HEAVY, "numpy", "pandas", "plotly", "streamlit", "sklearn", "scipy", "typer"}
    code = "import bertviz_core as bv; bv.analyze; bv.analyze('surface_patterns')['previous']"
    assert not imported_by(code) & {*HEAVY, "streamlit"}  # a stored result needs no model


def test_the_test_command_of_the_readme_is_the_one_that_ci_runs():
    readme, ci = ((ROOT / name).read_text().splitlines() for name in ("README.md", ".ci/run"))
    assert [line for line in readme if "python -m pytest -m" in line] == [line for line in ci if "pytest" in line]
