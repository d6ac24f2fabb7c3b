"""What all commands share: their options, progress on standard error, and how output is written."""

import inspect
import sys
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, get_origin, get_type_hints

import typer
from typer.models import ParameterInfo
from typing_extensions import Doc

from bertviz_core import exports
from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.reading_warnings import reading_warnings
from bertviz_core.analyses.base.request import Options, Request, with_names_split
from bertviz_core.analyses.base.result import Result
from bertviz_core.analyses.run import compute, run_pass, runtime_estimate
from bertviz_core.choices import Choices, is_optional, metadata, required
from bertviz_core.corpora.files import NO_CORPUS, find_sources, sample
from bertviz_core.corpora.readers import OPENERS
from bertviz_core.corpora.source import Source
from bertviz_core.engine.progress import Progress
from bertviz_core.engine.store import Store, temporary_store
from bertviz_core.errors import SettingsError
from bertviz_core.models.checkpoint import Checkpoint, checkpoint_of
from bertviz_core.models.loading import load
from bertviz_core.models.model import AttentionModel
from bertviz_core.settings import Execution, Settings, offload_of
from bertviz_core.text_display import printable

INPUT = "Files, folders, patterns, or the name of a built-in sample."


@dataclass
class Console:
    """The options that every analysis takes; a command receives them as `console`."""

    input: Annotated[list[str], typer.Argument(help=INPUT)]
    model: Annotated[str, Doc("`demo`, `demo-decoder`, a local folder, or a hub name, also NAME@REVISION.")] = "demo"
    revision: Annotated[str | None, Doc("A hub model's branch, tag or commit.")] = None
    device: Annotated[str, Doc("auto, cpu, cuda or mps.")] = "auto"
    offload: Annotated[
        str, Doc("Where weights wait that no GPU has room for: none, cpu (in memory), or disk; needs accelerate.")
    ] = "none"
    settings: Settings = field(default_factory=Settings)
    batch_tokens: Annotated[int | None, Doc("Tokens per batch; default: by device.")] = None
    workers: Annotated[int, typer.Option(min=0, help="Processes that share the work, one on each GPU; needs Ray.")] = 0
    ray: Annotated[str, Doc("Address of a running Ray cluster, such as auto.")] = ""
    store: Annotated[Path | None, Doc("Folder of the store of results.")] = None
    no_store: Annotated[bool, Doc("Do not read or write the store.")] = False
    out: Annotated[list[Path], Doc("Output file, format by extension; repeatable.")] = field(default_factory=list)
    quiet: Annotated[bool, Doc("Hide progress on standard error.")] = False

    def checkpoint(self) -> Checkpoint:
        """The model's files, downloaded after their size is printed where they are not on this machine."""
        return checkpoint_of(self.model, self.revision, quiet=self.quiet)

    def load_model(self, checkpoint: Checkpoint) -> AttentionModel:
        """A model, where its device and weights are to be."""
        return load(checkpoint, self.device, self.settings.dtype, offload=self.execution().offload)

    def execution(self) -> Execution:
        """How it is computed; raises SettingsError for a batch without tokens, and for another place of weights."""
        if self.batch_tokens is not None and self.batch_tokens < 1:
            raise SettingsError("--batch-tokens is below 1.", hint="Omit it, or give a few hundred.")
        return Execution(self.device, self.batch_tokens, self.workers, self.ray, offload_of(self.offload))

    def request(self, analysis: Analysis[Any, Any], options: Options, files: dict[str, Source]) -> Request:
        """The request of an analysis; `files` are further ones, by role. Raises InputError before a model is loaded."""
        settings = analysis.relevant(self.settings)
        if analysis.corpus in NO_CORPUS:
            source = sample(analysis.corpus)
        else:
            source = find_sources(self.input)
            OPENERS[analysis.corpus](source)
        given = options.in_mode(settings.paper).to_json()
        return Request(analysis.name, self.checkpoint(), source, settings, given, files)

    def working_store(self) -> AbstractContextManager[Store]:
        """The store, or an empty one that is deleted at the end."""
        return temporary_store() if self.no_store else nullcontext(Store(self.store))

    def computed(self, request: Request, store: Store) -> Result:
        """The result of a request: the stored one, or a new one."""
        request.settings.check(request.checkpoint.max_length)
        run_pass.check_model(request)
        result = compute.find(store, request)
        if result is None:
            if time := runtime_estimate.duration(store, [compute.shared(request)]):
                self.say(f"This takes {time}.")
            result = compute.compute(request, store, self.execution(), self.progress())
            self.say("")
        return result

    def check_out(self, allowed: tuple[str, ...]) -> None:
        """Raises SettingsError, ahead of any work, for an --out that cannot be written, or has another suffix."""
        for path in self.out:
            exports.check_path(path, allowed)

    def write(self, build: Callable[[str], bytes], text: Callable[[], str]) -> None:
        """Write every --out, whose bytes are built by its suffix, or print the text where there is none."""
        for path in self.out:
            exports.write_bytes(path, build(path.suffix.lower()))
        if not self.out:
            print(printable(text()))

    def write_result(self, result: Result) -> None:
        """Write or print a result, after what its model's files say and its computation does not use."""
        for notice in result.provenance.get("notices", ()):
            print(printable(f"note: {notice}"), file=sys.stderr)
        files = exports.builders(result)
        for warning in reading_warnings(result) if self.out else ():  # the printed text has them
            self.say(f"Warning: {warning}")
        self.write(lambda suffix: files[suffix](), partial(exports.to_text, result))

    def progress(self) -> Progress:
        """Progress that is printed, unless the command is to be quiet."""
        return Progress() if self.quiet else PrintedProgress()

    def say(self, text: str) -> None:
        """Print a line on standard error, unless the command is to be quiet."""
        if not self.quiet:
            print(printable(text), file=sys.stderr)


class PrintedProgress(Progress):
    """Progress printed on standard error, a few times a second on a terminal, every ten seconds in a log.

    Attributes:
        last_shown: When it was printed last, in seconds of the monotonic clock.
    """

    last_shown: float = 0.0

    def advance(self, count: int) -> None:
        """Count what is done, and print it where it is time."""
        super().advance(count)
        is_terminal = sys.stderr.isatty()
        is_last = count > 0 and self.done == self.total
        if is_last or time.monotonic() - self.last_shown > (0.2 if is_terminal else 10):
            self.last_shown = time.monotonic()
            if is_terminal:
                print(f"\r\033[K{printable(str(self))}", end="", file=sys.stderr, flush=True)
            else:
                print(printable(str(self)), file=sys.stderr)


def with_options(function: Callable[..., None], without: Collection[str] = ()) -> Callable[..., None]:
    """The command of a function. A parameter whose type is a dataclass, as choices or Console, is an option for each of
    its fields; Console's come last, and those in `without` keep their defaults."""
    signature = inspect.signature(function, eval_str=True)
    kinds = {p.name: p.annotation for p in signature.parameters.values() if is_dataclass(p.annotation)}
    own = [p.replace(kind=p.KEYWORD_ONLY) for p in signature.parameters.values() if p.name not in kinds]
    chosen = [p for kind in kinds.values() if kind is not Console for p in parameters(kind)]
    shared = [p for p in parameters(Console) if p.name not in without]

    def command(**values: Any) -> None:
        of_console = {"input": [], **{p.name: values[p.name] for p in shared}}
        function(
            **{p.name: values[p.name] for p in own},
            **{name: filled(kind, of_console if kind is Console else values) for name, kind in kinds.items()},
        )

    command.__doc__ = function.__doc__
    command.__signature__ = inspect.Signature([*own, *chosen, *shared])  # type: ignore[attr-defined]
    return command


def filled(kind: Any, values: Mapping[str, Any]) -> Any:
    """A dataclass with the values of its options, by name; what has none keeps its default. Raises SettingsError for a
    choice that its field does not take."""
    own = {}
    for name, hint in get_type_hints(kind).items():
        if is_dataclass(hint):
            own[name] = filled(hint, values)
        elif name in values:
            own[name] = None if values[name] == [] and is_optional(hint) else values[name]
    whole = kind(**with_names_split(kind, own))
    if isinstance(whole, Choices):
        whole.check()
    return whole


def _kind_of(hint: Any) -> Any:
    """The type that typer reads for that of a field; what is one of several texts is a text here, and checked with the
    other choices, and of a tuple each text may be given by an option of its own."""
    base = required(hint)
    if get_origin(base) is tuple:
        return list[str]
    if get_origin(base) is Literal:
        base = str
    return base | None if is_optional(hint) else base


def parameters(options: Any) -> list[inspect.Parameter]:
    """Typer's parameters for the fields of a dataclass, documented with typer's annotations or with Doc; those of a
    field that is a dataclass itself stand in its place."""
    hints = get_type_hints(options, include_extras=True)
    listed = []
    for each in fields(options):
        if is_dataclass(own := hints[each.name]):
            listed += parameters(own)
            continue
        kind = _kind_of(hints[each.name])
        doc = next(one for one in metadata(hints[each.name]) if isinstance(one, Doc | ParameterInfo))
        default = each.default if each.default_factory is MISSING else each.default_factory()
        if kind == list[str] and default is not MISSING:
            default = [",".join(default)] if default else []  # commas between, as they may be given
        elif default is MISSING:
            default = inspect.Parameter.empty
        if isinstance(doc, Doc):
            flags = ["--" + each.name.replace("_", "-")] if kind is bool else []
            doc = typer.Option(*flags, help=doc.documentation)
        annotation = Annotated[kind, doc]  # type: ignore[valid-type]
        keyword = inspect.Parameter.KEYWORD_ONLY
        listed.append(inspect.Parameter(each.name, keyword, default=default, annotation=annotation))
    return listed
