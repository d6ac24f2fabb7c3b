"""Settings of a result, how it is computed, and what visitors of a server may access: folders, downloads, uploads."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from typing_extensions import Doc

from bertviz_core.choices import MOST, Between, Choices, Count, Positive
from bertviz_core.errors import SettingsError
from bertviz_core.numbers import small_int

Mode = Literal["corrected", "paper"]
MODES: tuple[Mode, ...] = ("corrected", "paper")
Weights = Literal["attention", "norms"]
WEIGHTS: tuple[Weights, ...] = ("attention", "norms")
Dtype = Literal["float32", "bfloat16", "int8", "nf4"]
DTYPES: tuple[Dtype, ...] = ("float32", "bfloat16", "int8", "nf4")
QUANTIZED = ("int8", "nf4")  # those of 8 and of 4 bits, which bitsandbytes computes with
DEVICES = ("auto", "cpu", "cuda", "mps")
Offload = Literal["none", "cpu", "disk"]
OFFLOADS: tuple[Offload, ...] = ("none", "cpu", "disk")
T = TypeVar("T")
YES = ("1", "true", "yes", "on")
NO = ("", "0", "false", "no", "off")
ORIGIN = re.compile(r"https?://(\*\.(?=[^/:]*\.))?[a-z0-9-]+(\.[a-z0-9-]+)*(:\d{1,5})?", re.ASCII | re.IGNORECASE)


Length = Annotated[int, Between(8, MOST)]  # tokens


@dataclass(frozen=True)
class Settings(Choices):
    """Settings of a request; all of them are part of a result's key.

    Attributes:
        max_length: The most tokens of an input, special ones included.
        seed: The seed of every random choice.
        mode: "corrected" follows the text of the paper, "paper" the authors' released code (docs/methods.md).
        dtype: The type of the parameters; softmax and statistics are float32 and sums float64 in any case. Of one of
            QUANTIZED that of the linear layers, beside bfloat16.
        weights: "attention", or "norms": the weights times the lengths of the vectors that they carry (docs/methods.md,
            section 11).
    """

    max_length: Annotated[Length, Doc("Maximum tokens per input, special tokens included.")] = 128
    limit: Annotated[Positive | None, Doc("Maximum number of inputs; default: all.")] = None
    seed: Annotated[Count, Doc("Random seed.")] = 0
    mode: Annotated[Mode, Doc("corrected, or paper to follow the authors' code.")] = "corrected"
    dtype: Annotated[
        Dtype, Doc("float32, bfloat16 for previews, or int8 and nf4, of 8 and 4 bits; these need bitsandbytes.")
    ] = "float32"
    weights: Annotated[Weights, Doc("attention, or norms: weights times the lengths of the vectors they carry.")] = (
        "attention"
    )

    @property
    def paper(self) -> bool:
        """Whether results follow the release."""
        return self.mode == "paper"

    def to_json(self) -> dict[str, Any]:
        """The settings for keys and provenance."""
        return dict(vars(self))

    def check(self, longest: int | None = None) -> None:
        """Raises SettingsError for a value out of range, or a length above `longest`, the model's, None for any."""
        super().check()
        if longest is not None and self.max_length > longest:
            what = f"Passages of {self.max_length} tokens are longer than this model allows ({longest})."
            raise SettingsError(what, hint=f"Choose a maximum length of {longest} or less.")


@dataclass(frozen=True)
class Execution:
    """How a result is computed; never part of a key.

    Attributes:
        device: Where the model runs, one of DEVICES.
        batch_tokens: The most tokens of a batch; None lets the device choose.
        workers: The number of processes that share the work; 0 for this one alone, or as many as a cluster has room
            for.
        ray: The address of a running Ray cluster; empty for none.
        offload: Where weights wait for which the GPUs have no room: in memory ("cpu"), or those for which that has none
            either on the disk ("disk").
    """

    device: str = "auto"
    batch_tokens: int | None = None
    workers: int = 0
    ray: str = ""
    offload: Offload = "none"


def app_execution() -> Execution:
    """How the app computes: with BERTVIZ_WORKERS workers, at BERTVIZ_RAY, with weights that wait where BERTVIZ_OFFLOAD
    says; raises SettingsError for other values."""
    text = os.getenv("BERTVIZ_WORKERS", "0")
    workers = small_int(text)
    if workers is None or workers >= 100_000:
        raise SettingsError(f"BERTVIZ_WORKERS is {text[:40]!r}.", hint="Give it a number of processes, such as 2.")
    return Execution(workers=workers, ray=os.getenv("BERTVIZ_RAY", ""), offload=app_offload())


def app_offload() -> Offload:
    """Where weights of the app's models wait; raises SettingsError for another value of BERTVIZ_OFFLOAD."""
    return offload_of(os.getenv("BERTVIZ_OFFLOAD", "").strip().lower() or "none", "BERTVIZ_OFFLOAD")


def offload_of(text: str, name: str = "--offload") -> Offload:
    """One of OFFLOADS; raises SettingsError, with the `name` of the option, for another text."""
    for offload in OFFLOADS:
        if text == offload:
            return offload
    raise SettingsError(f"{name} is {text[:40]!r}.", hint=f"Choose one of {', '.join(OFFLOADS)}.")


def offered_dtypes() -> tuple[Dtype, ...]:
    """The types for which the packages are installed."""
    has_both = all(map(find_spec, ("accelerate", "bitsandbytes")))
    return tuple(each for each in DTYPES if has_both or each not in QUANTIZED)


HUB_SECONDS = 15.0  # for a question to the hub, as a whole


@dataclass(frozen=True)
class Access:
    """The limits of a server. The defaults are for a local app; every server has those of the last four.

    Attributes:
        public: Whether the server is open to strangers.
        folders: The folders whose models and trainings may be opened, resolved; None for any.
        downloads: The most bytes of models from the hub that the disk may hold; 0 turns the hub off, None sets no
            limit.
        hub_token: Whether requests have the machine's token; None has it where there is one.
        uploads: The most bytes of all uploads together.
        upload_days: The days until an upload is deleted.
        session_uploads: The most bytes of a session's uploads, on a public server.
        sessions: The most connections at a time.
        jobs: The most jobs that wait or run; on a public server one of each session.
        hub_seconds: The longest wait for an answer of the hub; 0 not to wait, as a page does, which is drawn again.
        frame_ancestors: The origins of other sites whose pages may show the app in a frame.
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
    hub_seconds: float = 2 * HUB_SECONDS  # Before that, the question itself gives up.
    frame_ancestors: tuple[str, ...] = ()


LOCAL = Access()  # the access that the command line has


def access_from_environment(env: Mapping[str, str] = os.environ) -> Access:
    """Read the limits of the app from `BERTVIZ_*` variables.

    Raises:
        SettingsError: A variable cannot be read.
    """
    switch = env.get("BERTVIZ_PUBLIC", "").strip().lower()
    if switch not in (*YES, *NO):
        raise SettingsError(f"BERTVIZ_PUBLIC is {switch!r}.", hint="Give 1 or 0.")
    public = switch in YES
    named = env.get("BERTVIZ_MODELS", "")
    folders = [Path(name).expanduser() for name in named.split(os.pathsep) if name.strip()]
    for folder in folders:
        if not folder.is_dir():
            what = f"BERTVIZ_MODELS names {str(folder)!r}, which is not a folder."
            raise SettingsError(what, hint="Check the path.")
    turned_off = env.get("BERTVIZ_DOWNLOADS", "").strip().lower() in NO[1:]
    return Access(
        public=public,
        folders=tuple(folder.resolve() for folder in folders) if public or named else None,
        downloads=0 if turned_off else gigabytes(env, "BERTVIZ_DOWNLOADS", 0 if public else None),
        hub_token=False,
        uploads=gigabytes(env, "BERTVIZ_UPLOADS", LOCAL.uploads),
        frame_ancestors=origins(env, "BERTVIZ_FRAME_ANCESTORS"),
    )


def origins(variables: Mapping[str, str], name: str) -> tuple[str, ...]:
    """Origins such as "https://example.org" or, with all hosts below one, "https://*.example.org", between spaces.

    Raises:
        SettingsError: One is no origin: it has no scheme, or a path, or stands for every host.
    """
    values = tuple(variables.get(name, "").split())
    for value in values:
        if not ORIGIN.fullmatch(value):
            hint = "Give origins between spaces, such as https://example.org https://*.example.org."
            raise SettingsError(f"{name} names {value[:80]!r}, which is not an origin.", hint=hint)
    return values


def gigabytes(variables: Mapping[str, str], name: str, default: T) -> int | T:
    """A number of gigabytes in bytes, the default where there is none.

    Raises:
        SettingsError: The value is no number of gigabytes.
    """
    value = variables.get(name, "").strip()
    if not value:
        return default
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0 <= number < 10**6:
        raise SettingsError(f"{name} is {value[:40]!r}.", hint="Give a number of gigabytes, such as 5 or 0.5.")
    return round(number * 10**9)
