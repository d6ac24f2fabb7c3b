"""Find the stored result of a request, or compute and store it with the requests that share its pass."""

from collections.abc import Hashable, Iterable

from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import Result, renamed
from bertviz_core.analyses.run.reading import read
from bertviz_core.analyses.run.run_pass import Load, LocalRunner, compute_pass
from bertviz_core.engine.progress import Progress
from bertviz_core.engine.store import Store
from bertviz_core.errors import BertvizError, Cancelled, ModelError, SettingsError, StoreError
from bertviz_core.models.families import is_additive
from bertviz_core.models.model import AttentionModel
from bertviz_core.settings import Execution

DEFAULT_EXECUTION = Execution()
Failure = tuple[list[Request], BertvizError]  # a pass, and why it failed


def find(store: Store | None, request: Request) -> Result | None:
    """The stored result of a request, under the request's names; None without one, or without a store.

    Equal files have one result, which may have been computed under other names, as that of another revision.
    """
    found = read(store, request.key(), request.analysis) if store else None
    return found and renamed(found, names_of(request), request.checkpoint.names)


def names_of(request: Request) -> dict[str, str]:
    """From the digest of each file of a request to its name."""
    return {source.digest: source.name for source in (request.source, *request.others.values())}


def compute(
    request: Request,
    store: Store | None,
    execution: Execution = DEFAULT_EXECUTION,
    progress: Progress | None = None,
    model: AttentionModel | None = None,
) -> Result:
    """Compute and store the result of a request, with those that share its pass; after an interruption it resumes.

    Args:
        store: Where results are stored; None to store nothing.
        execution: How it is computed.
        progress: How far it is; raises Cancelled.
        model: A loaded model; None to load that of the request.

    Raises:
        BertvizError: The model, the corpus or the settings do not allow it, or the store cannot be used.
    """
    together = shared(request)
    if store:
        store.check()
    runner = runner_of(execution) if model is None else LocalRunner(execution, lambda *_: model)
    with runner:
        results = compute_pass(together, store, runner, progress or Progress())
    return results[together.index(request)]


def runner_of(execution: Execution, load: Load | None = None) -> LocalRunner:
    """What computes passes: this process, or Ray's workers; raises SettingsError where these are asked for without
    Ray."""
    if not (execution.workers or execution.ray):
        return LocalRunner(execution, load)
    try:
        from bertviz_core.analyses.run.ray_runner import RayRunner
    except ModuleNotFoundError as error:
        hint = "Install it with `pip install ray`, or compute without workers."
        raise SettingsError("Several workers need Ray, which is not installed.", hint=hint) from error
    return RayRunner(execution, load)


def shared(request: Request) -> list[Request]:
    """The request and those that are always computed with it, in the pass that it shares."""
    analysis = ANALYSES[request.analysis]
    names = [name for name, each in ANALYSES.items() if each.shared and each.corpus == analysis.corpus]
    return [request.for_analysis(name) for name in names] if analysis.shared else [request]


def passes(requests: Iterable[Request]) -> list[list[Request]]:
    """The requests in as few passes as can be: plain forward passes over one corpus with the same settings are one,
    but for one that the model may turn out not to allow."""
    groups: dict[Hashable, list[Request]] = {}
    for request in requests:
        analysis = ANALYSES[request.analysis]
        may_fail = analysis.reads_residual and not is_additive(request.checkpoint.config)
        is_plain = analysis.chunked and not analysis.has_own_pass and not may_fail
        pass_key = (request.checkpoint.fingerprint(), analysis.corpus, request.source.digest, request.settings)
        groups.setdefault(pass_key if is_plain else request.key(), []).append(request)
    return list(groups.values())


def compute_all(
    requests: Iterable[Request],
    store: Store,
    execution: Execution = DEFAULT_EXECUTION,
    progress: Progress | None = None,
    load: Load | None = None,
    failed: list[Failure] | None = None,
) -> None:
    """Compute and store the requests that are not stored yet, in as few passes as possible.

    A pass that fails does not stop the others, except those of other models that would fail the same way.

    Args:
        progress: How far they are; raises Cancelled.
        load: Loads the model of a pass; None to load it from its files and keep the last one in memory.
        failed: Gets each pass that fails with its error; None to raise the first error at the end, preferably one that
            is no ModelError.

    Raises:
        StoreError: The store cannot be used; raised at once.
        BertvizError: A pass has failed, and there is no list `failed`.
    """
    progress = progress or Progress()
    failures = dict[Hashable, Failure]()
    store.check()
    with runner_of(execution, load) as runner:
        groups = passes(request for request in requests if find(store, request) is None)
        for number, together in enumerate(groups, 1):
            cause = (together[0].source.digest, *(request.analysis for request in together))
            if cause in failures and not isinstance(failures[cause][1], ModelError):
                continue  # The corpus or the settings would fail for every model.
            progress.start_pass(number, len(groups), together[0].checkpoint.label)
            try:
                compute_pass(together, store, runner, progress)
            except (Cancelled, StoreError):
                raise
            except BertvizError as error:
                # The frames of their tracebacks would keep the model in memory.
                error.__cause__ = error.__context__ = None
                failures.setdefault(cause, (together, error.with_traceback(None)))
    if failed is not None:
        failed.extend(failures.values())
    elif failures:
        raise min((error for _, error in failures.values()), key=lambda error: isinstance(error, ModelError))
