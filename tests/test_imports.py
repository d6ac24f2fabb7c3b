"""Imports run one way, nothing heavy is imported where it need not be, and nothing is unpickled."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAYERS = (  # a module may import its own layer and those above it in this list
    ("bertviz_core.errors", "bertviz_core.version"),
    ("bertviz_core.heads", "bertviz_core.numbers", "bertviz_core.paper"),
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
    (
        "bertviz_core.api",
        "bertviz_core.api_arrays",
    ),
    ("bertviz_core.cli",),
    ("bertviz_core",),  # whose names are the library's, loaded when they are used
    ("pages.shared",),
    ("pages",),
    ("app", "bertviz_core.__main__"),
)
MATHEMATICS = {"math", "numpy", "scipy", "sklearn", "statistics", "torch"}
HEAVY = {"torch", "transformers"}
UNPICKLERS = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


PATHS = [ROOT / "app.py", *(path for part in ("bertviz_core", "pages") for path in (ROOT / part).rglob("*.py"))]
TREES = {name_of(path): ast.parse(path.read_text(encoding="utf-8")) for path in PATHS}


def imported(module: str) -> Iterator[set[str]]:
    """Dotted names of what each statement of a file imports, at any depth; of `from a import b` both a.b and a."""
    for node in ast.walk(TREES[module]):
        if isinstance(node, ast.Import):
            yield {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            yield {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}


def packages_of(module: str) -> set[str]:
    """Top-level names of everything that a file imports."""
    return {name.partition(".")[0] for names in imported(module) for name in names}


def own_modules(names: set[str]) -> set[str]:
    """The project's modules among the names of one statement, without packages of which a module is named."""
    known = names & set(TREES)
    return {name for name in known if not any(other.startswith(f"{name}.") for other in known)}


IMPORTS = {module: {name for names in imported(module) for name in own_modules(names)} - {module} for module in TREES}


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
    TopologicalSorter(IMPORTS).prepare()  # raises CycleError, which names the modules


@pytest.mark.parametrize("package", sorted({module.rpartition(".")[0] for module in TREES} - {""}))
def test_no_circle_of_packages(package):
    """Of what each module or package directly inside a package imports of its siblings."""
    size = len(package.split(".")) + 1
    graph: dict[str, set[str]] = {}
    for module, names in IMPORTS.items():
        if module.startswith(f"{package}."):
            sibling = ".".join(module.split(".")[:size])
            inside = {".".join(name.split(".")[:size]) for name in names if name.startswith(f"{package}.")}
            graph.setdefault(sibling, set()).update(inside - {sibling})
    TopologicalSorter(graph).prepare()


def test_imports_run_down_the_layers():
    pairs = [(module, name) for module, names in IMPORTS.items() for name in names]
    assert [f"{module} imports {name}" for module, name in pairs if layer_of(name) > layer_of(module)] == []


def test_pages_have_no_mathematics():
    scripts = [module for module in TREES if module.startswith("pages.") and module.count(".") == 1]
    assert len(scripts) > 10
    for module in set(scripts) - {"pages.shared"}:
        assert not packages_of(module) & MATHEMATICS, module


def test_no_module_hides_a_public_name():
    """Importing a submodule sets an attribute of its package, which must not be one of the package's functions."""
    import bertviz_core

    assert not {f"bertviz_core.{name}" for name in bertviz_core.__all__} & set(TREES)


def loaded_by(code: str) -> set[str]:
    """Names of the top-level modules that a fresh interpreter holds after running the code."""
    show = "\nimport sys; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code + show], cwd=ROOT, check=True, capture_output=True, text=True)
    return set(done.stdout.splitlines()[-1].split())


def check_without(modules: list[str], packages: set[str]) -> None:
    """Neither named in these modules nor loaded by them."""
    assert not loaded_by("\n".join(f"import {module}" for module in modules)) & packages
    for module in modules:
        assert not packages_of(module) & packages, module


def test_the_core_never_imports_streamlit():
    core = [name for name in TREES if name.startswith("bertviz_core")]
    check_without([name for name in core if not name.endswith("__main__")], {"streamlit"})


def test_readers_and_figures_never_import_torch():
    """Nor what else shows results: results themselves, and what several analyses share."""
    readers = ("bertviz_core.corpora", "bertviz_core.plotting")
    folders = tuple(f"bertviz_core.{name}" for name in ("analyses", "overview", "viewer", "emergence"))
    shown = {"analysis", "behaviors", "document_figure", "proportions", "results", "result", "figure"}
    packages = {name_of(path) for path in PATHS if path.name == "__init__.py"}
    light = [n for n in TREES if n.startswith(folders) and (n in packages or n.rpartition(".")[2] in shown)]
    check_without([*(name for name in TREES if name.startswith(readers)), *light], HEAVY)


def test_importing_the_package_imports_nothing_heavy():
    loaded = loaded_by("import bertviz_core as bv; bv.__version__; dir(bv)")
    assert not loaded & {*HEAVY, "numpy", "pandas", "plotly", "streamlit", "sklearn", "scipy", "typer"}
    code = "import bertviz_core as bv; bv.analyze; bv.analyze('surface_patterns')['previous']"
    assert not loaded_by(code) & {*HEAVY, "streamlit"}  # a stored result needs no model


def test_one_module_imports_what_loads_models():
    """Parts of transformers import each other: threads that begin with different ones get incomplete modules."""
    loaders = [m for m in TREES if any("transformers.Auto" in name for names in imported(m) for name in names)]
    assert loaders == ["bertviz_core.models.libraries"]


def test_nothing_is_unpickled_and_no_code_comes_from_a_hub():
    """By the syntax tree, so that a comment or a message about pickles does not count."""
    for module, tree in TREES.items():
        assert not packages_of(module) & UNPICKLERS, module
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                assert ast.unparse(node) not in ("torch.load", "pandas.read_pickle", "pd.read_pickle"), module
            if isinstance(node, ast.keyword) and node.arg in ("trust_remote_code", "allow_pickle"):
                assert ast.unparse(node.value) == "False", module
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".from_pretrained"):
                assert {"trust_remote_code"} <= {keyword.arg for keyword in node.keywords}, module


def test_the_test_command_of_the_readme_is_the_one_that_ci_runs():
    readme, ci = ((ROOT / name).read_text().splitlines() for name in ("README.md", ".ci/run"))
    assert [line for line in readme if "python -m pytest -m" in line] == [line for line in ci if "pytest" in line]
