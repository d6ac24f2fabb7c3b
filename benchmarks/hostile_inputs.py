"""Inputs of 50 MB, packed or not, that are made to fill the memory or to stop every other thread.

Each is read in a fresh process by the reader of its kind, and what it gives is cut by the demo model's tokenizer. A
second thread wakes every ten milliseconds and keeps its longest wait: nobody else's page moves for so long.

    OMP_NUM_THREADS=1 python -m benchmarks.hostile_inputs [--seconds 20] [NAME ...]

`--models` damages so many folders of models at random instead (benchmarks/hostile_models.py), with other changes each
time; it prints the seed, by which they can be made again, and ends with status 1 where an error was not in words.
"""

import argparse
import gzip
import io
import json
import lzma
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bertviz_core.corpora import Skipped
from bertviz_core.corpora.annotated import CoreferenceCorpus
from bertviz_core.corpora.contents import describe
from bertviz_core.corpora.coreference.mentions import head_words
from bertviz_core.corpora.readers import read_vectors
from bertviz_core.corpora.source import Source, from_bytes
from bertviz_core.errors import BertvizError

SIZE = 50_000_000  # bytes, as many as the app takes
PACKED = 490_000_000  # bytes of what unpacks
UNIQUE = 800_000  # rows with names of their own: more than a reader takes of one document
TICK = 0.01  # seconds


@dataclass(frozen=True)
class Case:
    """An input by its kind ("text", "treebank", "coreference" or "vectors") and its bytes, made when it is wanted."""

    kind: str
    data: Callable[[], bytes]


def _filled(piece: str, size: int = SIZE, before: str = "", after: str = "") -> Callable[[], bytes]:
    """`piece` again and again, to `size` bytes."""

    def make() -> bytes:
        return (before + piece * ((size - len(before) - len(after)) // len(piece.encode())) + after).encode()

    return make


def _numbered(row: Callable[[int], str], before: str = "") -> Callable[[], bytes]:
    def make() -> bytes:
        data, number = io.BytesIO(), 0
        data.write(before.encode())
        while data.tell() < SIZE:
            if number < UNIQUE:
                chunk = "".join(row(i) for i in range(number, number + 10_000)).encode()
            data.write(chunk)
            number += 10_000
        return data.getvalue()

    return make


def _packed(piece: bytes, opened: Callable[..., object]) -> Callable[[], bytes]:
    def make() -> bytes:
        packed = io.BytesIO()
        with opened(packed, "wb") as stream:  # type: ignore[attr-defined]
            for _ in range(PACKED // (len(piece) << 10)):
                stream.write(piece * (1 << 10))
        return packed.getvalue()

    return make


def _archive_of_many() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number in range(300_000):
            archive.writestr(f"{number}.txt", b"")
    return packed.getvalue()


def _long_vectors() -> bytes:
    return "".join(f"w{number} " + "1 " * 499_000 + "\n" for number in range(50)).encode()


def _noise() -> bytes:
    return random.Random(0).randbytes(SIZE).replace(b"\0", b"\n")


ROW = "a\t0\t{}\tword{}\tNN\t(NP*)\t-\t-\t-\t-\t*\t{}\n"
CASES = {
    "text: one line": Case("text", _filled("word ")),
    "text: lines of 1 MB of marks": Case("text", _filled("!" * 1_000_000 + "\n")),
    "text: lines of 1 MB of Chinese letters": Case("text", _filled("中文" * 160_000 + "\n")),
    "text: a word of 1 MB a line": Case("text", _filled("a" * 1_000_000 + "\n")),
    "text: lines of one letter": Case("text", _filled("a\n")),
    "text: blank lines": Case("text", _filled("\n", after="a")),
    "text: one line with an emoji, xz": Case("text", _packed("aaaaaaa😀".encode(), partial(lzma.open, preset=0))),
    "text: lines, gzip": Case("text", _packed(b"the cat sat on the mat .\n", gzip.open)),
    "text: random bytes": Case("text", _noise),
    "JSON: one string": Case("text", _filled("word ", before='[{"text": "', after='"}]')),
    "JSON: one list": Case("text", _filled("[],", before='[{"text": "a", "x": [', after="0]}]")),
    "JSON: brackets": Case("text", _filled("[", before="[")),
    "JSON: numbers": Case("text", _filled("1", before="[{")),
    "JSON: many objects": Case("text", _filled('{"text":"a"},', before="[", after='{"text":"a"}]')),
    "JSON: spaces": Case("text", _filled(" ", before="[", after='{"text":"a"}]')),
    "treebank: one sentence": Case("treebank", _filled("a 0-root\n")),
    "treebank: spaces in a line": Case("treebank", _filled(" ", 900_000, "He 0-root\n\na", "b\n")),
    "treebank: one CoNLL-U sentence": Case("treebank", _numbered("{0}\ta\t_\tX\t_\t_\t0\tdep\t_\t_\n".format)),
    "treebank: comments": Case("treebank", _filled("#\n", before="1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n\n")),
    "coreference: one document": Case("coreference", _filled("0\ta\t-\n")),
    "coreference: blank lines": Case("coreference", _filled("\n", before="0\ta\t(1)\n")),
    "coreference: chains that never close": Case("coreference", _numbered("0\ta\t({}\n".format)),
    "coreference: mentions": Case("coreference", _numbered("0\ta\t({0})\n".format)),
    "coreference: a cell of brackets": Case("coreference", _filled("(1)", 1_000_000, "0\ta\t(1)\n1\tb\t")),
    "coreference: phrases": Case("coreference", _filled("(NP", 1_000_000, "a 0 0 w NN ", " - - - - * (1)\n")),
    "coreference: words of 1 MB": Case("coreference", _filled(f"0\t{'!' * 900_000}\t(1)\n")),
    "coreference: 12 columns": Case("coreference", _numbered(lambda i: ROW.format(i, i, f"({i})"))),
    "coreference: CorefUD": Case(
        "coreference",
        _numbered(lambda i: f"{i + 1}\ta\t_\tX\t_\t_\t0\tdep\t_\tEntity=(e{i})\n", "# global.Entity = eid\n"),
    ),
    "coreference: jsonlines": Case(
        "coreference", _filled(json.dumps({"sentences": [["a"] * 150_000], "clusters": [[[0, 0], [1, 1]]]}) + "\n")
    ),
    "coreference: deep jsonlines": Case("coreference", _filled('{"sentences": ' + "[" * 900_000 + "\n")),
    "coreference: GAP": Case(
        "coreference",
        _filled(
            f"x\t{'! ' * 400_000}\t!\t0\t!\t2\tTRUE\t!\t4\tFALSE\tu\n",
            before="ID\tText\tPronoun\tPronoun-offset\tA\tA-offset\tA-coref\tB\tB-offset\tB-coref\tURL\n",
        ),
    ),
    "vectors: one line": Case("vectors", _filled("1 ", before="the ")),
    "vectors: lines of 1 MB": Case("vectors", _long_vectors),
    "vectors: an archive of many files": Case("vectors", _archive_of_many),
    "vectors: random bytes": Case("vectors", _noise),
}
# The largest of the table of each reader, and one that unpacks: what the tests run.
LARGEST = ("text: one line with an emoji, xz", "JSON: one list", "coreference: CorefUD")


def units(kind: str, source: Source) -> Iterator[list[str]]:
    """Read a source as a page and a job do: to its end, then again, piece by piece, as words or texts."""
    if kind == "vectors":
        read_vectors(source, {"the", "cat", *(f"w{i}" for i in range(50))})
        return
    describe(kind, source)
    if kind == "coreference":
        for document in CoreferenceCorpus(source).documents(Skipped()):
            head_words(document)
            yield list(document.words)
    elif kind == "treebank":
        from bertviz_core.corpora.annotated import Treebank

        yield from (list(sentence.words) for sentence in Treebank(source).sentences(Skipped()))


class Stopped(BaseException):
    """The time is up."""


def stop(*_: object) -> None:
    raise Stopped


def read(kind: str, source: Source, tokens: object, seconds: float) -> str:
    """What came of it: "read", "refused: ..." or "stopped" at the time given."""
    from bertviz_core.inputs.annotated_words import Sentences
    from bertviz_core.inputs.segments import Segments
    from bertviz_core.inputs.tokens import Tokens
    from bertviz_core.settings import Settings

    assert isinstance(tokens, Tokens)
    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        for words in units(kind, source):
            for word in words:
                tokens.pieces(word)
        made = {"text": Segments, "treebank": Sentences}.get(kind)
        for _ in made(source, tokens, Settings()) if made else ():
            pass
    except Stopped:
        return "stopped"
    except BertvizError as error:
        return f"refused: {error.what}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return "read"


class Watcher(threading.Thread):
    """Wakes every TICK; `longest` is the most CPU time, in seconds, that the process took while it waited: unlike wall
    time it does not grow with the load of other programs."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.longest = 0.0
        self.over = threading.Event()

    def run(self) -> None:
        before = time.process_time()
        while not self.over.wait(TICK):
            now = time.process_time()
            self.longest, before = max(self.longest, now - before), now


def run_case(name: str, path: Path, seconds: float) -> dict[str, object]:
    """Run one case in this process, on its bytes in a file."""
    from bertviz_core.models.checkpoint import find_checkpoint
    from bertviz_core.models.loading import load_tokens

    case = CASES[name]
    source, tokens = from_bytes(path.read_bytes(), "given"), load_tokens(find_checkpoint("demo"))
    tokens.encode("warm")
    watcher = Watcher()
    watcher.start()
    began = time.monotonic()
    outcome = read(case.kind, source, tokens, seconds)
    took = time.monotonic() - began
    watcher.over.set()
    watcher.join()
    # Not getrusage: a child's figure there begins with what its parent had resident when it was forked.
    status = Path("/proc/self/status").read_text()
    peak = int(status.partition("VmHWM:")[2].split()[0]) / 1024
    return {"name": name, "outcome": outcome, "seconds": took, "peak": peak, "gap": watcher.longest}


def apart(name: str, seconds: float) -> dict[str, object]:
    """The same in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "given"
        path.write_bytes(CASES[name].data())
        command = [sys.executable, "-m", "benchmarks.hostile_inputs", "--file", str(path), "--seconds", str(seconds)]
        done = subprocess.run([*command, name], check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def _damage_models(count: int, seed: int) -> None:
    """Print what was tried and what came of it; ends the program with status 1 after an error that is not in words."""
    from benchmarks.hostile_models import damaged

    print(f"{count} folders of models, --seed {seed}\n\n| changes | outcome | s of the server | s of the opening |")
    print("| --- | --- | --- | --- |")
    outcomes = Counter[str]()
    for each in damaged(count, seed):
        print(f"| {each.changes} | {each.outcome} | {each.seconds[0]:.2f} | {each.seconds[1]:.1f} |", flush=True)
        outcomes[each.outcome.partition(":")[0]] += 1
    print(f"\n{dict(outcomes)}")
    sys.exit(outcomes["TRACEBACK"] > 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--file", type=Path, help="Where the bytes of the one case stand: run it in this process.")
    parser.add_argument("--models", type=int, default=0, help="Folders of models to damage.")
    parser.add_argument("--seed", type=int, help="Of the damages; default: another one each time.")
    given = parser.parse_args()
    if given.models:
        _damage_models(given.models, random.SystemRandom().getrandbits(32) if given.seed is None else given.seed)
        return
    if given.file:
        print(json.dumps(run_case(given.names[0], given.file, given.seconds)))
        return
    print("| input | outcome | s | peak MB | longest gap s |\n| --- | --- | --- | --- | --- |")
    for name in given.names or CASES:
        row = apart(name, given.seconds)
        print(
            f"| {name} | {row['outcome']} | {row['seconds']:.1f} | {row['peak']:,.0f} | {row['gap']:.2f} |", flush=True
        )


if __name__ == "__main__":
    main()
