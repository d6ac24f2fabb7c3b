"""Dependencies stand in pyproject.toml; everything else comes from it."""

import re
import runpy
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from bertviz_core.version import __version__

ROOT = Path(__file__).parent.parent


def test_the_files_of_requirements_come_from_the_project_file() -> None:
    """`python deploy/requirements.py` writes them."""
    for name, text in runpy.run_path(str(ROOT / "deploy" / "requirements.py"))["files"]().items():
        assert (ROOT / name).read_text(encoding="utf-8") == text, name


def test_the_app_has_versions_that_the_library_allows_and_the_constraints_are_of_these() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    app = {canonicalize_name(each.name): each for each in map(Requirement, lines[1:])}
    for allowed in map(Requirement, project["dependencies"]):
        chosen = app[canonicalize_name(allowed.name)].specifier
        assert chosen == allowed.specifier or all(allowed.specifier.contains(each.version) for each in chosen)
    locked = re.findall(r"^(\S+)==(\S+)", (ROOT / "deploy" / "constraints.txt").read_text(encoding="utf-8"), re.M)
    versions = {canonicalize_name(name): version for name, version in locked}
    for name, requirement in app.items():
        assert requirement.specifier.contains(versions[name]), name
    assert set(project["optional-dependencies"]) == {"arrow", "large", "notebook", "ray", "svg"}


def test_the_documents_of_a_release_are_of_this_version() -> None:
    assert f"\n## {__version__}\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
