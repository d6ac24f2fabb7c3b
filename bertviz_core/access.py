"""What visitors of a server may access: folders, downloads, space for uploads. Read once from the environment."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bertviz_core.errors import SettingsError

YES, NO = ("1", "true", "yes", "on"), ("", "0", "false", "no", "off")


@dataclass(frozen=True)
class Access:
    """The limits of a server. The defaults are for a local app; those of the last four hold for every server."""

    public: bool = False  # open to strangers
    folders: tuple[Path, ...] | None = None  # the only ones whose models and trainings are opened, resolved; None: any
    downloads: int | None = None  # bytes that models from the hub may take on the disk; 0 turns the hub off
    hub_token: bool | None = None  # False keeps the machine's own out of every request; None uses it where there is one
    uploads: int = 5 * 10**9  # bytes that all may take
    upload_days: int = 30  # after which an upload is deleted
    session_uploads: int = 100 * 10**6  # bytes that those of one session may take on a public server
    sessions: int = 400  # connections that may be open at a time
    jobs: int = 64  # that may wait and run, in all

    @property
    def session_jobs(self) -> int:
        """Jobs that one session may have at a time."""
        return 1 if self.public else self.jobs


LOCAL = Access()  # of the command line, whose user has a shell anyway


def from_environment(variables: Mapping[str, str] | None = None) -> Access:
    """Read the limits of the app from `BERTVIZ_*` variables, the process's own where `variables` is None. Raises
    SettingsError for a variable that cannot be read: the app then opens nothing at all."""
    env = os.environ if variables is None else variables
    switch = env.get("BERTVIZ_PUBLIC", "").strip().lower()
    if switch not in (*YES, *NO):
        raise SettingsError(f"BERTVIZ_PUBLIC is {switch!r}.", hint="Give 1 or 0.")
    public = switch in YES
    folders: list[Path] | None = [] if public else None
    if named := env.get("BERTVIZ_MODELS"):
        folders = [Path(name).expanduser() for name in named.split(os.pathsep) if name.strip()]
        for folder in folders:
            if not folder.is_dir():
                what = f"BERTVIZ_MODELS names {str(folder)!r}, which is not a folder."
                raise SettingsError(what, hint="Check the path.")
    turned_off = env.get("BERTVIZ_DOWNLOADS", "").strip().lower() in NO[1:]
    uploads = _bytes(env, "BERTVIZ_UPLOADS")
    return Access(
        public=public,
        folders=None if folders is None else tuple(folder.resolve() for folder in folders),
        downloads=0 if turned_off else _bytes(env, "BERTVIZ_DOWNLOADS", 0 if public else None),
        hub_token=False,
        uploads=LOCAL.uploads if uploads is None else uploads,
    )


def _bytes(variables: Mapping[str, str], name: str, default: int | None = None) -> int | None:
    """A number of gigabytes in bytes; the default where it is not given."""
    value = variables.get(name, "").strip()
    try:
        number = float(value) if value else 0.0
    except ValueError:
        number = -1.0
    if not 0 <= number < 10**6:
        raise SettingsError(f"{name} is {value!r}.", hint="Give a number, such as 5 or 0.5.")
    return round(number * 10**9) if value else default
