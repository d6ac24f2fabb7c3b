"""Questions to the hub, each asked on a thread of its own: whoever asks waits no longer than the access says, however
silent the hub is."""

import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import Any, Generic, TypeVar

from bertviz_core.errors import ModelError
from bertviz_core.settings import HUB_SECONDS

T = TypeVar("T")
ANSWER_LIFETIME = 30.0  # seconds for which an answer is given again
ERROR_LIFETIME = 10.0  # seconds for which an error is, to those who do not wait
MOST = 1 << 11  # answers that are remembered
AT_ONCE = threading.BoundedSemaphore(32)  # questions that are on their way


class HubPending(ModelError):
    """The hub has been asked and has not answered yet.

    Attributes:
        answer: Done as soon as it has, or after HUB_SECONDS.
    """

    def __init__(self, answer: Future[Any]) -> None:
        super().__init__("The hub is asked about this model.", hint="Its answer is used as soon as it is there.")
        self.answer = answer


class Question(Generic[T]):
    """A question to the hub whose answers are remembered for a while; used as a decorator."""

    def __init__(self, ask: Callable[..., T]) -> None:
        self._ask = ask
        self._answers: dict[Hashable, tuple[float, Future[T]]] = {}
        self._lock = threading.Lock()

    def __call__(self, *arguments: Any, seconds: float) -> T:
        """The answer to `ask(*arguments)`, or what that raises.

        Args:
            arguments: Of the question, hashable.
            seconds: The longest wait.

        Raises:
            HubPending: It is not there in time.
        """
        answer = self._begun(arguments, keeps_errors=not seconds)
        try:
            return answer.result(timeout=seconds)
        except TimeoutError:
            if answer.done():
                raise
            raise HubPending(answer) from None

    def _begun(self, arguments: tuple[Any, ...], keeps_errors: bool) -> Future[T]:
        """The answer of a question that was asked a moment ago, or is asked now."""
        with self._lock:
            begun, answer = self._answers.get(arguments, (0.0, None))
            if answer is not None:
                has_failed = answer.done() and answer.exception() is not None
                lifetime = (ERROR_LIFETIME if keeps_errors else 0.0) if has_failed else ANSWER_LIFETIME
                if not answer.done() or time.monotonic() - begun < lifetime:
                    return answer
            while len(self._answers) >= MOST:
                self._answers.pop(next(iter(self._answers)))
            answer = self._start(arguments)
            self._answers[arguments] = time.monotonic(), answer
            return answer

    def _start(self, arguments: tuple[Any, ...]) -> Future[T]:
        answer: Future[T] = Future()

        def run() -> None:
            with suppress(InvalidStateError):  # The time is over.
                try:
                    with AT_ONCE:
                        answer.set_result(self._ask(*arguments))
                except BaseException as error:
                    answer.set_exception(error)

        def give_up() -> None:
            with suppress(InvalidStateError):  # The answer is there.
                answer.set_exception(_silent())

        threading.Thread(target=run, daemon=True).start()
        timer = threading.Timer(HUB_SECONDS, give_up)
        timer.daemon = True
        timer.start()
        answer.add_done_callback(lambda _: timer.cancel())
        return answer

    def cache_clear(self) -> None:
        """Forget all answers."""
        with self._lock:
            self._answers.clear()


def _silent() -> ModelError:
    what = f"The hub has not answered within {HUB_SECONDS:.0f} seconds."
    return ModelError(what, hint="Try again later, or give a folder.")
