"""What visitors of a server may access: folders, downloads, space for uploads. Read once from the environment."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bertviz_core.errors import SettingsError

YES, NO = ("1", "true", "yes", "on"), ("", "0", "false", "no", "off")


@dataclass(frozen=True)
class Access:
    """The limits of a server. The defaults are for a local app; those of the last four hold for every server.

    Attributes:
        public: Whether the server is open to strangers.
        folders: The only folders whose models and trainings may be opened, resolved; None for any folder.
        downloads: Bytes that models from the hub may take on the disk; 0 turns the hub off, None sets no limit.
        hub_token: False keeps the machine's own hub token out of every request; None uses it where there is one.
        uploads: Bytes that all uploads may take.
        upload_days: Days after which an upload is deleted.
        session_uploads: Bytes that the uploads of one session may take on a public server.
        sessions: Connections that may be open at a time.
        jobs: Jobs that may wait and run, in all.
    """

    public: bool = False
    folders: tuple[Path, ...] | None = None
    downloads: int | None = None
    hub_token: bool | None = None
    uploads: int = 5 * 10**9
    upload_days: int = 30
    session_uploads: int = 100 * 10**6
    sessions: int = 400
    jobs: int = 64

    @property
    def session_jobs(self) -> int:
        """Jobs that one session may have at a time."""
        return 1 if self.public else self.jobs


LOCAL = Access()  # of the command line, whose user has a shell anyway


def from_environment(variables: Mapping[str, str] | None = None) -> Access:
    """Read the limits of the app from `BERTVIZ_*` variables, the process's own where `variables` is None. Raises
    SettingsError for a variable that cannot be read: the app then opens nothing at all."""
    env = os.environ if variables is None else variables
    public = _switch(env, "BERTVIZ_PUBLIC")
    return Access(
        public=public,
        folders=_folders(env) if env.get("BERTVIZ_MODELS") else () if public else None,
        downloads=_downloads(env, 0 if public else None),
        hub_token=False,
        uploads=round(_number(env, "BERTVIZ_UPLOADS", LOCAL.uploads / 10**9) * 10**9),
    )


def _switch(variables: Mapping[str, str], name: str) -> bool:
    value = variables.get(name, "").strip().lower()
    if value not in (*YES, *NO):
        raise SettingsError(f"{name} is {value!r}.", hint="Give 1 or 0.")
    return value in YES


def _number(variables: Mapping[str, str], name: str, default: float) -> float:
    value = variables.get(name, "").strip()
    try:
        number = float(value) if value else default
    except ValueError:
        number = -1.0
    if not 0 <= number < 10**6:
        raise SettingsError(f"{name} is {value!r}.", hint="Give a number, such as 5 or 0.5.")
    return number


def _downloads(variables: Mapping[str, str], default: int | None) -> int | None:
    value = variables.get("BERTVIZ_DOWNLOADS", "").strip().lower()
    if not value:
        return default
    return 0 if value in NO else round(_number(variables, "BERTVIZ_DOWNLOADS", 0) * 10**9)


def _folders(variables: Mapping[str, str]) -> tuple[Path, ...]:
    folders = [Path(name).expanduser() for name in variables["BERTVIZ_MODELS"].split(os.pathsep) if name.strip()]
    for folder in folders:
        if not folder.is_dir():
            raise SettingsError(f"BERTVIZ_MODELS names {str(folder)!r}, which is not a folder.", hint="Check the path.")
    return tuple(folder.resolve() for folder in folders)
