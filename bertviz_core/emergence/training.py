"""The checkpoints of one training: folders of models, or revisions of a model on the hub, whose names have steps."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from decimal import Decimal
from fnmatch import fnmatchcase
from functools import partial
from itertools import pairwise
from pathlib import Path

from bertviz_core.corpora import Skipped
from bertviz_core.errors import BertvizError, DownloadNeeded, InputError, ModelError
from bertviz_core.models import model_sources
from bertviz_core.models.checkpoint import Checkpoint, find_checkpoint, local_folder
from bertviz_core.models.hub_questions import HubPending
from bertviz_core.settings import LOCAL, Access

UNUSABLE = "a checkpoint that cannot be used"
HOW_TO_NAME = "Give a folder of checkpoint folders, or revisions of a model on the hub, as owner/name@step*."
HUB_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?")
NAMES_A_STEP = re.compile(r"(step|checkpoint|epoch)\D*\d", re.IGNORECASE)  # not any number, as of a random seed
COMMIT = re.compile("[0-9a-f]{40}")
# A number with its unit, as in step1000, step_2000k and 1.5M; no part of another one, as of 1,000 or 1e5.
NUMBER = r"([0-9]+(?:\.[0-9]+(?=[kmb]))?)([kmb]?)(?:steps?|iters?)?(?![0-9a-z]|[.,_'][0-9])"
AFTER_STEP = re.compile(rf"step[-_=]?(?=[0-9])(?:{NUMBER})?", re.IGNORECASE)
ANY_NUMBER = re.compile(rf"(?<![0-9.,'])(?<![0-9]e){NUMBER}", re.IGNORECASE)
# Whose last digits are no step: thousands in groups, as of 1_000, which may also be two numbers, and dates.
GROUPS = re.compile(r"(?<![0-9])(?:[0-9]{1,3}(?:[_ ][0-9]{3})+|(?:19|20)[0-9]{2}([-_])[01][0-9]\1[0-3][0-9])(?![0-9])")
UNITS = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9}
PART_OF_TRAINING = re.compile("([a-z]+)[-_=]?([0-9]+)", re.IGNORECASE)
GROW_WITH_STEPS = ("epoch", "ep", "tokens", "tok", "samples")
LARGEST = 10**15  # the largest step that is understood
MOST = 200  # checkpoints from the hub
ASKED_AT_ONCE = 8  # questions to the hub


@dataclass(frozen=True)
class Training:
    """Checkpoints of one training, by step.

    Attributes:
        name: The end of the folder's path, or the name on the hub and the revisions as they were asked for.
        steps: The step of each checkpoint.
        checkpoints: The checkpoints, in the order of their steps.
        skipped: What could not be read.
    """

    name: str
    steps: tuple[int, ...]
    checkpoints: tuple[Checkpoint, ...]
    skipped: Skipped

    def fingerprint(self) -> str:
        """sha256 (hex) of the checkpoints' fingerprints and steps."""
        digest = hashlib.sha256()
        for step, checkpoint in zip(self.steps, self.checkpoints, strict=True):
            digest.update(f"{step}:{checkpoint.fingerprint()}\n".encode())
        return digest.hexdigest()


def find_training(training: Path | str, access: Access = LOCAL) -> Training:
    """Open the checkpoints of a training.

    Args:
        training: A folder of checkpoints, by its path or, where `access` limits the folders, its name; or a name on the
            hub with revisions: `owner/name@step0,step1000`, or a pattern, `owner/name@step*`.

    Raises:
        DownloadNeeded: Some of the revisions are not on this machine.
        InputError: No checkpoint can be read.
        ModelError: It may not be opened, the hub cannot be asked, or the checkpoints are not of one training.
    """
    name = str(training)
    skipped = Skipped()
    folder = local_folder(name) if access.folders is None else model_sources.trainings(access).get(name)
    if folder is not None:
        models = _in_folder(folder, name, skipped)
        return _training("/".join(folder.resolve().parts[-2:]), str(folder), models, skipped)
    repository, revisions = model_sources.split_revision(name)
    is_on_hub = revisions is not None and HUB_NAME.fullmatch(repository)
    if access.folders is not None and not (is_on_hub and access.downloads != 0):
        raise model_sources.not_available("training")
    if not is_on_hub or revisions is None:
        raise InputError(f"There is no folder {name!r}.", hint=HOW_TO_NAME)
    models = _on_hub(name, repository, revisions, access, skipped)
    return _training(name, name, models, skipped)


def training_of(checkpoint: Checkpoint, access: Access = LOCAL) -> Training | None:
    """The training that a checkpoint is a step of, as far as it is on this machine; None where none is known.

    Its other checkpoints are the folders beside its own, or other revisions on the hub. Nothing is downloaded.
    """
    if not NAMES_A_STEP.search(name_of(checkpoint)):
        return None
    place = _hub_name(checkpoint) if checkpoint.revision else _name_of_folder(checkpoint.folder.parent, access)
    try:
        training = find_training(place, replace(access, downloads=0) if access.folders is None else access)
    except BertvizError:
        return None
    is_among = any(each.folder == checkpoint.folder for each in training.checkpoints)
    return training if is_among and len(training.steps) > 1 else None


def _hub_name(checkpoint: Checkpoint) -> str:
    """A hub model with those of its revisions that are on this machine, each of which has a file in `refs`."""
    references = checkpoint.folder.parent.parent / "refs"
    names = (path.relative_to(references).as_posix() for path in references.rglob("*") if path.is_file())
    repository, _ = model_sources.split_revision(checkpoint.name)
    return f"{repository}@{','.join(sorted(filter(NAMES_A_STEP.search, names)))}"


def _name_of_folder(folder: Path, access: Access) -> str:
    """The name by which a training's folder may be opened; empty where it may not."""
    if access.folders is None:
        return str(folder)
    return next((name for name, each in model_sources.trainings(access).items() if each == folder), "")


def name_of(checkpoint: Checkpoint) -> str:
    """What a checkpoint is called within its training."""
    return checkpoint.revision or checkpoint.folder.name


def reasons(skipped: Skipped) -> str:
    """The checkpoints that were skipped, the first of each reason with it, in a line."""
    return "; ".join(f"{entry['where'][0]}: {reason}" for reason, entry in skipped.reasons.items())


def _training(name: str, where: str, models: Iterable[tuple[int, Checkpoint]], skipped: Skipped) -> Training:
    ordered = sorted(models, key=lambda model: model[0])
    if not ordered:
        raise _empty(where, skipped)
    _check_alike(ordered, where)
    steps, checkpoints = zip(*ordered, strict=True)
    return Training(name, steps, checkpoints, skipped)


def _empty(where: str, skipped: Skipped) -> InputError:
    why = f" that can be read ({reasons(skipped)})" if skipped.reasons else ""
    hint = "The names of its checkpoints must have their steps, as step-0000500 or checkpoint-500."
    if any(problem.startswith(UNUSABLE) for problem in skipped.reasons):
        hint = "Each must be a model that can be opened by itself."
    return InputError(f"No checkpoint is in this training{why}.", where=where, hint=hint)


def _in_folder(folder: Path, name: str, skipped: Skipped) -> Iterator[tuple[int, Checkpoint]]:
    """(step, checkpoint) of every model folder whose name has a step; raises InputError for one that is closed."""
    try:
        inner = sorted(path for path in folder.iterdir() if path.is_dir())
    except OSError as error:
        what = f"The folder cannot be read ({error.strerror})."
        raise InputError(what, where=name, hint="Check its permissions.") from error
    for path in inner:
        step = step_of(path.name)
        if step is None:
            if (path / "config.json").exists():
                skipped.add("a model folder without a step in its name that is understood", path.name)
            continue
        try:
            yield step, find_checkpoint(str(path))
        except ModelError as error:
            skipped.add(_why_unusable(error, (str(path), path.name)), path.name)


def step_of(name: str) -> int | None:
    """The step in the name of a checkpoint: the number after "step", or else the last one, with k, M or B for
    thousands, millions and billions; None without any, and for what is not understood.

    Examples:
        >>> step_of("step1000-tokens4B"), step_of("checkpoint-500"), step_of("step_2000k"), step_of("main")
        (1000, 500, 2000000, None)
    """
    match = _step_in(name)
    if match is None or match[1] is None:
        return None
    if any(each.start() < match.end(1) <= each.end() for each in GROUPS.finditer(name)):
        return None
    step = Decimal(match[1]) * UNITS[match[2].lower()]
    return int(step) if step == int(step) and step <= LARGEST else None


def _step_in(name: str) -> re.Match[str] | None:
    """Where the step stands in a name."""
    if COMMIT.fullmatch(name):
        return None
    return next(reversed([*AFTER_STEP.finditer(name)] or [*ANY_NUMBER.finditer(name)]), None)


def _parts_before_step(name: str) -> dict[str, str]:
    """From each word before the step to its number: of `stage2-ingredient1-step500` those of stage and ingredient."""
    match = _step_in(name)
    before = PART_OF_TRAINING.findall(name[: match.start()]) if match else []
    return {word.lower(): number for word, number in before if word.lower() not in GROW_WITH_STEPS}


def _on_hub(
    name: str, repository: str, asked: str, access: Access, skipped: Skipped
) -> Iterator[tuple[int, Checkpoint]]:
    """(step, checkpoint) of every revision that is on this machine; raises DownloadNeeded where some are not."""
    steps = _steps(_matching(repository, asked, access), skipped)
    needed = []
    with ThreadPoolExecutor(ASKED_AT_ONCE) as pool:
        models = pool.map(partial(_open, repository, access), steps)
    for (revision, step), model in zip(steps.items(), models, strict=True):
        match model:
            case Checkpoint():
                yield step, model
            case HubPending():
                raise model
            case DownloadNeeded():
                needed.append(model)
            case _:
                skipped.add(_why_unusable(model, (f"{repository}@{revision}",)), revision)
    if needed:
        size = sum(each.size for each in needed)
        model_sources.check_room(name, size, access)
        raise DownloadNeeded(name, size, [each.name for each in needed])


def _steps(revisions: Iterable[str], skipped: Skipped) -> dict[str, int]:
    """From each revision that has a step in its name to the step."""
    steps = {}
    for revision in revisions:
        step = step_of(revision)
        if step is None:
            skipped.add("a revision without a step in its name that is understood", revision)
        else:
            steps[revision] = step
    return steps


def _open(repository: str, access: Access, revision: str) -> Checkpoint | ModelError:
    try:
        return find_checkpoint(repository, revision, access)
    except ModelError as error:
        return error


def _matching(repository: str, asked: str, access: Access) -> list[str]:
    """The revisions that are named, and those that match a pattern. Raises InputError for none, or for too many."""
    names: dict[str, None] = {}
    for part in filter(None, map(str.strip, asked.split(","))):
        if not any(sign in part for sign in "*?["):
            names[part] = None
            continue
        listed = model_sources.revisions(repository, access)
        matches = [revision for revision in listed if fnmatchcase(revision, part)]
        if not matches:
            hint = f"It has {', '.join(listed[:10])}{', …' if len(listed) > 10 else ''}."
            raise InputError(f"No revision of {repository!r} matches {part!r}.", hint=hint)
        names |= dict.fromkeys(matches)
    if len(names) > MOST:
        hint = "Choose fewer, with a pattern such as step*0000."
        raise InputError(f"These are {len(names):,} revisions of {repository!r}; the most are {MOST}.", hint=hint)
    return [*names]


def _why_unusable(error: ModelError, names: Iterable[str]) -> str:
    """A reason without the checkpoint's own names, so that equal ones are counted together."""
    reason = error.what
    for name in names:
        reason = reason.replace(f" {name!r}", "")
    for path in names:
        reason = reason.replace(path, Path(path).name)
    return f"{UNUSABLE}: {reason.removeprefix('The model folder cannot be used: ').removesuffix('.')}"


def _check_one_count(names: Iterable[str], where: str) -> None:
    """Raise ModelError for checkpoints whose steps are counted anew, as in a second stage, or by another run."""
    firsts: dict[str, tuple[str, str]] = {}  # From a word to its number in the first name that has it, and that name
    for name in names:
        for word, number in _parts_before_step(name).items():
            expected, first = firsts.setdefault(word, (number, name))
            if number != expected:
                what = f"{first} and {name} are not steps of one count: the {word} is another one."
                hint = (
                    f"Give one at a time, by a pattern such as owner/name@{word}{number}*, or in a folder of its own."
                )
                raise ModelError(what, where=where, hint=hint)


def _check_alike(models: list[tuple[int, Checkpoint]], where: str) -> None:
    """Raise ModelError for checkpoints of one step, or of different shapes or sizes of vocabulary."""
    _check_one_count([name_of(model) for _, model in models], where)
    for (before, first), (step, second) in pairwise(models):
        names = f"{name_of(first)} and {name_of(second)}"
        if step == before:
            hint = "Keep one, or rename one: the last number in a name is its step, or the one after `step`."
            raise ModelError(f"Two checkpoints have step {step:,}: {names}.", where=where, hint=hint)
        pair = (first, second)
        shapes = [f"{each.layers} × {each.heads} heads, {each.config.get('vocab_size')} tokens" for each in pair]
        if shapes[0] != shapes[1]:
            what = f"{names} have different shapes: {'; '.join(shapes)}."
            raise ModelError(what, where=where, hint="Give the checkpoints of one training.")
