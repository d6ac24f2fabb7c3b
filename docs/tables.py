"""Write the tables of the documentation whose facts the code has: commands and options, formats, files, relations.

    python -m docs.tables

Each stands in its page between two comments that name it; the rest of a page is written by hand.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.cli import Console, parameters
from bertviz_core.cli.commands import app
from bertviz_core.corpora.annotation_formats import FORMATS
from bertviz_core.corpora.treebank import RELATIONS
from bertviz_core.models import unsupported_folders

FOLDER = Path(__file__).parent


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown; a bar inside a cell would end it."""
    cells = [header, ["---"] * len(header), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def all_commands() -> dict[str, TyperCommand]:
    """The commands by name, those of a group after the group's."""
    found: dict[str, TyperCommand] = {}

    def add(command: object, name: str) -> None:
        if isinstance(command, TyperGroup):
            for own, each in command.commands.items():
                add(each, f"{name} {own}".strip())
        elif isinstance(command, TyperCommand):
            found[name] = command

    add(typer.main.get_command(app), "")
    return found


def options_of(command: TyperCommand) -> list[TyperOption]:
    return [each for each in command.params if isinstance(each, TyperOption) and each.name != "help"]


def shared_options() -> list[TyperOption]:
    """The options that all commands of analyses have, those of Console."""
    own = {each.name for each in parameters(Console)}
    (command, *_) = (all_commands()[each.command] for each in ANALYSES.values())
    return [each for each in options_of(command) if each.name in own]


def flag(option: TyperOption) -> str:
    """An option as it is typed, with its default."""
    default = ",".join(option.default) if isinstance(option.default, list) else option.default
    shown = f" {default}" if not option.is_flag and isinstance(default, str | int | float) and default != "" else ""
    return f"`{option.opts[0]}{shown}`"


def commands() -> str:
    """A row for each command: what it gives, and the options that it does not share."""
    shared = {option.name for option in shared_options()}
    rows = []
    for name, command in all_commands().items():
        own = [each for each in options_of(command) if each.name not in shared]
        described = "; ".join(f"{flag(each)}: {(each.help or '').rstrip('.')}" for each in own)
        rows.append((f"`{name}`", " ".join((command.help or "").split()), described))
    return table(("command", "what it gives", "its own options, with their defaults"), rows)


def options() -> str:
    """A row for each option that the commands of analyses share."""
    return table(("option", "meaning"), [(flag(each), each.help or "") for each in shared_options()])


def formats() -> str:
    """A row for each format, in the order in which they are tried."""
    return table(("corpus", "format"), [(each.kind, each.name) for each in FORMATS])


def other_files() -> str:
    """A row for each kind of file that a folder may have in place of safetensors."""
    rows = [(f"`{pattern}`", what, way_out) for pattern, (what, way_out) in unsupported_folders.FORMATS.items()]
    return table(("file", "what it is", "what to do"), rows)


def relations() -> str:
    """A row for each label of a relation."""
    rows = [(f"`{name}`", label.meaning, label.marked("**{}**", "*{}*")) for name, label in sorted(RELATIONS.items())]
    return table(("relation", "meaning", "example"), rows)


PAGES: dict[str, tuple[Callable[[], str], ...]] = {
    "cli.md": (commands, options),
    "formats.md": (formats,),
    "models.md": (other_files,),
    "relations.md": (relations,),
}


def updated(page: str) -> str:
    """A page's text with its tables as the code has them now; raises ValueError where the page has no place for one."""
    text = (FOLDER / page).read_text("utf-8")
    for make in PAGES[page]:
        begin, end = f"<!-- {make.__name__}: python -m docs.tables -->", f"<!-- end of {make.__name__} -->"
        before, found, rest = text.partition(begin)
        _, closed, after = rest.partition(end)
        if not found or not closed:
            raise ValueError(f"docs/{page} has no place for the table {make.__name__}.")
        text = f"{before}{begin}\n{make()}\n{end}{after}"
    return text


def main() -> None:
    for page in PAGES:
        (FOLDER / page).write_text(updated(page), "utf-8")


if __name__ == "__main__":
    main()
