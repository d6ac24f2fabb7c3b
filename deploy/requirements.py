"""Writes requirements.txt and requirements-dev.txt from pyproject.toml: `python deploy/requirements.py`."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
HEADER = "# From pyproject.toml, by `python deploy/requirements.py`.\n"


def name_of(requirement: str) -> str:
    """The normalized name of a package in a requirement such as "torch>=2.13,<3"."""
    for sign in "<>=!~[; ":
        requirement = requirement.partition(sign)[0]
    return requirement.lower().replace("_", "-").replace(".", "-")


def requirements_of(group: str, groups: dict[str, list[str | dict[str, str]]]) -> list[str]:
    """The requirements of a dependency group and of those that it includes."""
    lines: list[str] = []
    for entry in groups[group]:
        lines += [entry] if isinstance(entry, str) else requirements_of(entry["include-group"], groups)
    return lines


def files() -> dict[str, str]:
    """The text of each file by its name: what the library allows, but the versions that the app was tested with."""
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = pyproject["dependency-groups"]
    lines = [*pyproject["project"]["dependencies"], *requirements_of("app", groups), *requirements_of("tested", groups)]
    by_name = {name_of(line): line for line in lines}  # the last line of a name, in the place of its first
    dev = ["-r requirements.txt", *requirements_of("dev", groups)]
    texts = {"requirements.txt": list(by_name.values()), "requirements-dev.txt": dev}
    return {name: HEADER + "".join(f"{line}\n" for line in entries) for name, entries in texts.items()}


if __name__ == "__main__":
    for name, text in files().items():
        (ROOT / name).write_text(text, encoding="utf-8")
