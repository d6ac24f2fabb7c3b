"""Imports run one way, nothing heavy is imported where it need not be, and nothing is unpickled."""

import ast
import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
LAYERS = (  # a module may import its own layer and those above it in this list
    ("bertviz_core.errors", "bertviz_core.version"),
    (
        "bertviz_core.heads",
        "bertviz_core.numbers",
        "bertviz_core.paper",
        "bertviz_core.published",
        "bertviz_core.text_display",
    ),
    ("bertviz_core.settings", "bertviz_core.choices"),
    ("bertviz_core.corpora",),
    ("bertviz_core.inputs",),
    ("bertviz_core.models",),
    ("bertviz_core.engine", "bertviz_core.plotting"),
    ("bertviz_core.analyses",),
    ("bertviz_core.overview",),
    ("bertviz_core.emergence", "bertviz_core.tour"),
    ("bertviz_core.one_head",),
    ("bertviz_core.comparison",),
    ("bertviz_core.exports",),
    ("bertviz_core.viewer",),
    ("bertviz_core.paper_report",),
    ("bertviz_core.head_atlas",),
    ("bertviz_core.tasks",),
    ("bertviz_core.api_results",),
    (
        "bertviz_core.api",
        "bertviz_core.api_arrays",
    ),
    ("bertviz_core.api_training",),
    ("bertviz_core.cli",),
    ("bertviz_core",),  # whose names are the library's, loaded when they are used
    ("pages.shared",),
    ("pages",),
    ("pages.shared.server",),  # which no page imports
    ("app", "bertviz_core.__main__"),
)
MATHEMATICS = {"math", "numpy", "scipy", "sklearn", "statistics", "torch"}
HEAVY = {"torch", "transformers"}
# Where names that libraries do not document may be used, and what is documented beside the libraries' own modules.
INTERNALS = {
    "streamlit": "pages.shared.streamlit_internals",
    "plotly": "bertviz_core.plotting.plotly_internals",
    "diskcache": "bertviz_core.engine.bytes_disk",
}
DOCUMENTED = {
    "streamlit.delta_generator.DeltaGenerator",  # the type of containers
    "streamlit.components.v2",
    "streamlit.column_config",
    *(f"plotly.{name}" for name in ("graph_objects", "io", "subplots", "express", "offline")),
}
DOCUMENTED_NAMES = {"_asdict", "_fields", "_make", "_replace", "_exit"}  # of named tuples; of os
TABLE = re.compile(r"\b(FROM|UPDATE|INTO|ON) Cache\b")  # diskcache's, in SQL
UNPICKLERS = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


PATHS = {
    name_of(path): path
    for path in (ROOT / "app.py", *(ROOT / "bertviz_core").rglob("*.py"), *(ROOT / "pages").rglob("*.py"))
}


@cache
def trees() -> dict[str, ast.Module]:
    """The syntax trees of all files, by their modules."""
    return {module: ast.parse(path.read_text(encoding="utf-8")) for module, path in PATHS.items()}


def imported(module: str) -> Iterator[set[str]]:
    """Dotted names of what each statement of a file imports, at any depth; of `from a import b` both a.b and a."""
    for node in ast.walk(trees()[module]):
        if isinstance(node, ast.Import):
            yield {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            yield {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}


def packages_of(module: str) -> set[str]:
    """Top-level names of everything that a file imports."""
    return {name.partition(".")[0] for names in imported(module) for name in names}


def own_modules(names: set[str]) -> set[str]:
    """The project's modules among the names of one statement, without packages of which a module is named."""
    known = names & set(PATHS)
    return {name for name in known if not any(other.startswith(f"{name}.") for other in known)}


@cache
def imports() -> dict[str, set[str]]:
    """The project's modules that each module imports."""
    return {module: {name for names in imported(module) for name in own_modules(names)} - {module} for module in PATHS}


def layer_of(module: str) -> int:
    """The layer whose longest name the module's begins with."""
    matches = [
        (len(name), number)
        for number, names in enumerate(LAYERS)
        for name in names
        if module == name or (name != "bertviz_core" and module.startswith(f"{name}."))
    ]
    assert matches, f"{module} is in no layer: put its package into LAYERS above"
    return max(matches)[1]


def test_no_circle_of_files():
    TopologicalSorter(imports()).prepare()  # raises CycleError, which names the modules


@pytest.mark.parametrize("package", sorted({module.rpartition(".")[0] for module in PATHS} - {""}))
def test_no_circle_of_packages(package):
    """Of what each module or package directly inside a package imports of its siblings."""
    size = len(package.split(".")) + 1
    graph: dict[str, set[str]] = {}
    for module, names in imports().items():
        if module.startswith(f"{package}."):
            sibling = ".".join(module.split(".")[:size])
            inside = {".".join(name.split(".")[:size]) for name in names if name.startswith(f"{package}.")}
            graph.setdefault(sibling, set()).update(inside - {sibling})
    TopologicalSorter(graph).prepare()


def test_imports_run_down_the_layers():
    pairs = [(module, name) for module, names in imports().items() for name in names]
    assert [f"{module} imports {name}" for module, name in pairs if layer_of(name) > layer_of(module)] == []


def test_pages_have_no_mathematics():
    scripts = [module for module in PATHS if module.startswith("pages.") and module.count(".") == 1]
    assert len(scripts) > 8
    for module in set(scripts) - {"pages.shared"}:
        assert not packages_of(module) & MATHEMATICS, module


def test_no_module_hides_a_public_name():
    """Importing a submodule sets an attribute of its package, which must not be one of the package's functions."""
    import bertviz_core

    assert not {f"bertviz_core.{name}" for name in bertviz_core.__all__} & set(PATHS)


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
    left_out = ("__main__",) if importlib.util.find_spec("triton") else ("__main__", "mixture_triton")
    core = [name for name in PATHS if name.startswith("bertviz_core")]
    check_without([name for name in core if not name.endswith(left_out)], {"streamlit"})


def test_readers_and_figures_never_import_torch():
    """Nor what else shows results: results themselves, and what several analyses share."""
    readers = ("bertviz_core.corpora", "bertviz_core.plotting")
    folders = tuple(f"bertviz_core.{name}" for name in ("analyses", "overview", "viewer", "emergence"))
    shown = {"analysis", "averages", "behaviors", "document_figure", "figure", "loss_averages", "registry", "result"}
    shown |= {"clearest_heads", "head_columns", "input_attention", "presentation", "statements", "summary"}
    packages = {name for name, path in PATHS.items() if path.name == "__init__.py"}
    light = [n for n in PATHS if n.startswith(folders) and (n in packages or n.rpartition(".")[2] in shown)]
    check_without([*(name for name in PATHS if name.startswith(readers)), *light], HEAVY)


def test_importing_the_package_imports_nothing_heavy():
    loaded = loaded_by("import bertviz_core as bv; bv.__version__; dir(bv)")
    assert not loaded & {*HEAVY, "numpy", "pandas", "plotly", "streamlit", "sklearn", "scipy", "typer"}
    code = "import bertviz_core as bv; bv.analyze; bv.analyze('surface_patterns')['previous']"
    assert not loaded_by(code) & {*HEAVY, "streamlit"}  # a stored result needs no model


def test_one_module_imports_what_loads_models():
    """Parts of transformers import each other: threads that begin with different ones get incomplete modules."""
    loaders = [m for m in PATHS if any("transformers.Auto" in name for names in imported(m) for name in names)]
    assert loaders == ["bertviz_core.models.libraries"]


def test_one_module_imports_ray():
    assert [module for module in PATHS if "ray" in packages_of(module)] == ["bertviz_core.analyses.run.ray_runner"]


def test_nothing_is_unpickled_and_no_code_comes_from_a_hub():
    """By the syntax tree, so that a comment or a message about pickles does not count."""
    for module, tree in trees().items():
        assert not packages_of(module) & UNPICKLERS, module
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                assert ast.unparse(node) not in ("torch.load", "pandas.read_pickle", "pd.read_pickle"), module
            if isinstance(node, ast.keyword) and node.arg in ("trust_remote_code", "allow_pickle"):
                assert ast.unparse(node.value) == "False", module
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".from_pretrained"):
                assert {"trust_remote_code"} <= {keyword.arg for keyword in node.keywords}, module


def is_documented(name: str) -> bool:
    """Whether a dotted name of a library is one of its documented interface: those of its top level that are no
    modules, and DOCUMENTED with what is in them."""
    if any(name == known or name.startswith(f"{known}.") or known.startswith(f"{name}.") for known in DOCUMENTED):
        return True
    package, _, attribute = name.partition(".")
    module = importlib.import_module(package)
    is_submodule = isinstance(getattr(module, attribute.partition(".")[0], None), ModuleType)
    return not attribute or (hasattr(module, attribute.partition(".")[0]) and not is_submodule)


def library_names(tree: ast.Module, package: str) -> Iterator[str]:
    """Dotted names of a library that a file imports, or uses as attributes of what it has imported."""
    aliases: dict[str, str] = {}  # name in the file -> dotted name
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found = {alias.asname or alias.name.partition(".")[0]: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found = {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        else:
            continue
        aliases |= {name: full for name, full in found.items() if full.partition(".")[0] == package}
    yield from aliases.values()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in aliases:
            yield f"{aliases[node.value.id]}.{node.attr}"


@pytest.mark.parametrize("package", INTERNALS)
def test_what_a_library_does_not_document_is_used_in_one_module(package: str) -> None:
    used = {name: set(library_names(tree, package)) for name, tree in trees().items() if name != INTERNALS[package]}
    assert {name: bad for name, names in used.items() if (bad := {n for n in names if not is_documented(n)})} == {}
    assert not all(map(is_documented, library_names(trees()[INTERNALS[package]], package)))  # it finds those that exist


def private_names(tree: ast.Module) -> tuple[set[str], set[str]]:
    """Names with an underscore in front: those that a file defines, and those that it uses as attributes."""
    defined, used = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            defined.add(node.id)
        elif isinstance(node, ast.Attribute) and re.match(r"_[^_]", node.attr):
            is_own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            (defined if is_own else used).add(node.attr)
    return defined, used


def test_no_private_attribute_of_a_library_is_used_elsewhere() -> None:
    names = {module: private_names(tree) for module, tree in trees().items()}
    defined = set().union(*(own for own, _ in names.values())) | DOCUMENTED_NAMES
    foreign = {module: used - defined for module, (_, used) in names.items() if used - defined}
    assert set(foreign) == {INTERNALS["streamlit"], INTERNALS["plotly"], "bertviz_core.models.torch_internals"}, foreign


def test_diskcaches_table_is_read_by_diskcache_alone() -> None:
    texts = {
        module: [
            node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        for module, tree in trees().items()
    }
    assert not [module for module, found in texts.items() if any(map(TABLE.search, found))]


def test_streamlits_pages_are_styled_and_steered_in_listed_places() -> None:
    """The style sheet and one script name parts of Streamlit's pages, and that script its storage and history."""
    paths = [path for suffix in ("py", "js", "css") for path in (ROOT / "pages").rglob(f"*.{suffix}")]
    texts = {
        path.relative_to(ROOT / "pages/shared").as_posix(): path.read_text() for path in paths if "shared" in path.parts
    }
    script = "components/streamlit_internals.js"
    assert {name for name, text in texts.items() if "data-testid=" in text} == {"frame/appearance.css", script}
    steering = re.compile(r"pushState|popstate|localStorage|_stcore")
    steered = {name for name, text in texts.items() if steering.search(text)}
    assert steered == {script, "streamlit_internals.py"}


def test_the_test_command_of_the_readme_is_the_one_that_ci_runs():
    readme, ci = ((ROOT / name).read_text().splitlines() for name in ("README.md", ".ci/run"))
    tested = [line for line in ci if "pytest" in line and "--collect-only" not in line]
    assert [line for line in readme if "python -m pytest -m" in line] == tested
