"""A callback of transformers' Trainer that follows a model's heads while it is trained."""

import shutil
import warnings
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import TrainerCallback

from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import Result
from bertviz_core.analyses.run import compute, run_pass
from bertviz_core.api import load_from_memory
from bertviz_core.api_results import AnalysisResult
from bertviz_core.corpora.files import Corpus, every_kind, source_of
from bertviz_core.emergence.series import analyses as of_emergence
from bertviz_core.engine.store import Store, temporary_store
from bertviz_core.errors import SettingsError
from bertviz_core.heads import highest
from bertviz_core.models.checkpoint import Checkpoint, checkpoint_of, find_checkpoint
from bertviz_core.models.in_memory_fingerprint import unwrapped, with_adapters
from bertviz_core.settings import Execution, Settings


class HeadStatistics(TrainerCallback):
    """Runs analyses of a model in training, and logs for each quantity the highest value and its head.

    They are run before the first step, at every `every` steps and at the last one, on a copy that shares the model's
    weights; the model, its mode and gradients, and the generators of random numbers stay as they are. What is logged
    goes where the loss goes: `heads/entropy/entropy` is a value, `heads/entropy/entropy/head` the head, as "3-5".
    An error before the first step ends the training; a later one is a warning, and that step is left out.

    Attributes:
        history: From each step to what was logged.

    Examples:
        >>> trainer = Trainer(model, arguments, train_dataset=data, processing_class=tokenizer)  # doctest: +SKIP
        >>> trainer.add_callback(bv.HeadStatistics(trainer, every=500, folder="heads"))  # doctest: +SKIP
        >>> trainer.train()  # doctest: +SKIP
    """

    def __init__(
        self,
        trainer: Any,
        *,
        every: int,
        analyses: Sequence[str] | None = None,
        text: Corpus | None = None,
        treebank: Corpus | None = None,
        coreference: Corpus | None = None,
        pairs: Corpus | None = None,
        folder: str | Path | None = None,
        tokenizer: Any = None,
        model: Any = None,
        store: str | Path | bool = True,
        **settings: Any,
    ) -> None:
        """Prepare the callback, which is then added with `trainer.add_callback`.

        Args:
            trainer: The Trainer, whose loggers are used.
            every: Steps between two measurements.
            analyses: Their names, as `analyze` takes them; those that the page Emergence shows where it is None.
            text, treebank, coreference, pairs: The corpora of the analyses, as in `analyze`; a sample where one is
                None.
            folder: Where the model is saved at each measurement, as `folder/step-0000500`, so that Emergence opens
                the folder with its results; None to save nothing and store no result. Each training needs a folder of
                its own; one that is resumed continues in the same, where later steps of the branch that was given up
                are deleted. Adapters are saved merged into their model, in float32.
            tokenizer: The model's; the Trainer's `processing_class` where it is None.
            model: The transformers model that is measured, where the Trainer's is a module that has it inside.
            store: As in `analyze`.
            **settings: `max_length`, `limit`, `seed`, `mode`, `dtype` and `weights`.

        Raises:
            BertvizError: An analysis, a corpus or a setting cannot be used.
        """
        if every < 1:
            raise SettingsError(f"There is no measurement every {every} steps.", hint="Give a number of 1 or more.")
        self.history: dict[int, dict[str, Any]] = {}
        self._trainer = trainer
        self._every = every
        self._names = None if analyses is None else [_known(name) for name in analyses]
        given = every_kind(text=text, treebank=treebank, coreference=coreference, pairs=pairs)
        kinds = {ANALYSES[name].corpus for name in self._names or of_emergence()}
        self._sources = {kind: source_of(corpus, kind) for kind, corpus in given.items() if kind in kinds}
        self._folder = None if folder is None else Path(folder)
        self._tokenizer = tokenizer
        self._model = model
        self._store = store
        self._settings = Settings(**settings)

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Measure before the first step; an error ends the training."""
        self.history = {step: logged for step, logged in self.history.items() if step < state.global_step}
        if state.is_world_process_zero:
            if state.global_step == 0:
                self._check_folder()
            self._drop_later_steps(state.global_step)
            self._measure(state.global_step)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Measure at every `every` steps and at the last one."""
        if state.global_step % self._every == 0 or state.global_step == state.max_steps:
            self._measure_or_warn(state, control)

    def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Measure the last step of a training that stops early, before the best model takes the place of the last."""
        if control.should_training_stop:
            self._measure_or_warn(state, control)

    on_save = on_epoch_end = on_evaluate  # Which of them is the first after the decision differs.

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Measure the model at the end of the training, unless an earlier one takes its place."""
        if not args.load_best_model_at_end:  # Otherwise the model is by now that of an earlier step.
            self._measure_or_warn(state, control)

    def _check_folder(self) -> None:
        """Raise SettingsError if the folder has steps of an earlier training: the two would become one in Emergence."""
        if self._folder and any(self._folder.glob("step-*")):
            what = "The folder has steps of an earlier training."
            raise SettingsError(what, where=str(self._folder), hint="Choose another folder, or delete this one.")

    def _drop_later_steps(self, step: int) -> None:
        """Delete the steps beyond the one that is resumed, which are of the branch that was given up."""
        for path in sorted(self._folder.glob("step-*")) if self._folder else ():
            number = path.name.removeprefix("step-")
            if number.isdecimal() and int(number) > step:
                warnings.warn(f"{path} is deleted: the training is resumed from step {step}.", stacklevel=2)
                shutil.rmtree(path)

    def _measure_or_warn(self, state: Any, control: Any) -> None:
        if not state.is_world_process_zero or state.global_step in self.history:
            return
        should_log = control.should_log
        try:
            self._measure(state.global_step)
        except Exception as error:  # Whatever it is, a long training must not be lost for it.
            warnings.warn(f"The heads were not measured at step {state.global_step}: {error}", stacklevel=2)
        control.should_log = should_log  # `Trainer.log` unsets it, and the loss of this step would be missing

    def _measure(self, step: int) -> None:
        """Run the analyses on the model as it is now, and log what is highest."""
        devices = range(torch.cuda.device_count())
        with torch.random.fork_rng(devices), self._opened_store() as store:
            results = self._results(step, store)
        logged: dict[str, Any] = {}
        for name, result in results.items():
            for quantity in result.quantities():
                values = result[quantity]
                if not np.isnan(values).all():
                    head = highest(values)
                    logged[f"heads/{name}/{quantity}"] = float(values[head.layer, head.head])
                    logged[f"heads/{name}/{quantity}/head"] = head.key()
        self.history[step] = logged
        self._trainer.log(dict(logged))

    def _results(self, step: int, store: Store) -> dict[str, AnalysisResult]:
        pair = self._pair()
        described = checkpoint_of(pair)
        with self._saved(pair, step) as saved:
            return self._computed(pair, described, saved or described, store)

    def _pair(self) -> tuple[Any, Any]:
        """The model and its tokenizer; raises SettingsError without a tokenizer."""
        tokenizer = self._tokenizer or self._trainer.processing_class
        if tokenizer is None:
            hint = "Give HeadStatistics(trainer, tokenizer=tokenizer, ...), or the Trainer its processing_class."
            raise SettingsError("The Trainer has no tokenizer.", hint=hint)
        return (self._trainer.model if self._model is None else self._model), tokenizer

    @contextmanager
    def _saved(self, pair: tuple[Any, Any], step: int) -> Iterator[Checkpoint | None]:
        """The model as it was saved in the folder; None without one. After an error nothing of this step is left."""
        if not self._folder:
            yield None
            return
        is_new = not self._folder.exists()
        folder = self._folder / f"step-{step:07d}"
        shutil.rmtree(folder, ignore_errors=True)  # It may be of the training that is resumed.
        try:
            yield _save(pair, folder)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            if is_new:
                shutil.rmtree(self._folder, ignore_errors=True)
            raise

    def _computed(
        self, pair: tuple[Any, Any], described: Checkpoint, checkpoint: Checkpoint, store: Store
    ) -> dict[str, AnalysisResult]:
        """The results of the model, which are stored as those of `checkpoint`."""
        load = load_from_memory(pair, described)
        if self._folder and described.unknown_code:
            load = None  # What is stored of the saved model is computed from its files.
        requests = self._requests(checkpoint)
        compute.compute_all(requests, store, Execution(), load=load)
        found = partial(compute.find, store)
        shown: dict[str, AnalysisResult] = {}
        for request in requests:
            result = found(request)
            assert isinstance(result, Result), "a result that has just been stored is there"
            view = ANALYSES[request.analysis].view()
            shown[request.analysis] = AnalysisResult(view.show(result, view.beside(request, found)))
        return shown

    def _requests(self, checkpoint: Checkpoint) -> list[Request]:
        """The request of each analysis; by default without those that this model cannot compute."""
        self._settings.check(checkpoint.max_length)
        requests = []
        for name in self._names or of_emergence():
            settings = ANALYSES[name].relevant(self._settings)
            requests.append(Request(name, checkpoint, self._sources[ANALYSES[name].corpus], settings))
        if self._names is None:
            return list(filter(run_pass.can_compute, requests))
        for request in requests:
            run_pass.check_model(request)
        return requests

    def _opened_store(self) -> AbstractContextManager[Store]:
        """The store; of a model that is not saved, one that is deleted."""
        if self._store is False or not self._folder:
            return temporary_store()
        return nullcontext(Store(None if self._store is True else Path(self._store)))


def _known(analysis: str) -> str:
    name = analysis.replace("-", "_")
    if name not in ANALYSES:
        raise SettingsError(f"There is no analysis {analysis!r}.", hint=f"Choose one of {', '.join(ANALYSES)}.")
    return name


def _save(pair: tuple[Any, Any], folder: Path) -> Checkpoint:
    _merged(pair[0]).save_pretrained(folder)
    pair[1].save_pretrained(folder)
    return find_checkpoint(str(folder))


def _merged(model: Any) -> Any:
    """The model inside its wrappers; where that has adapters a copy in float32 into which they are merged."""
    inner = unwrapped(model)
    outer = with_adapters(model)
    return inner if outer is None else deepcopy(outer).float().merge_and_unload()
