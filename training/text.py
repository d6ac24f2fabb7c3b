"""Text files to wordpieces on disk: the vocabulary, and a cache that is tokenized once and then memory-mapped."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from transformers import BertTokenizer

from bertviz_core.corpora.source import from_path
from bertviz_core.errors import InputError

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")  # ids 0 to 4
SENTENCE_END = re.compile(r"""(?:(?<=[.!?])|(?<=[.!?]["'”’)\]]))\s+(?=["'“‘(\[]*[A-Z0-9])""")
AT_ONCE = 20_000  # sentences given to the tokenizer together


@dataclass(frozen=True, slots=True)
class Text:
    """Wordpieces of a whole text, and where its sentences and documents begin.

    `tokens` (token,); sentence i is tokens[sentences[i]:sentences[i + 1]]; document d is the sentences
    documents[d] to documents[d + 1]. `digest` names the text and the vocabulary together.
    """

    tokens: NDArray[np.uint16]
    sentences: NDArray[np.int64]
    documents: NDArray[np.int64]
    digest: str


def read_lines(files: Sequence[Path]) -> Iterator[str]:
    """Paragraphs, one a line; an empty line between documents, and one after every file."""
    for path in files:
        yield from (line.strip() for _, line in from_path(path).lines())
        yield ""


def train_vocabulary(files: Sequence[Path], size: int, positions: int) -> BertTokenizer:
    """An uncased WordPiece vocabulary of at most `size` entries, the special tokens first."""
    from tokenizers import trainers

    tokenizer = BertTokenizer(model_max_length=positions)
    trainer = trainers.WordPieceTrainer(vocab_size=size, special_tokens=list(SPECIAL), show_progress=False)
    core = tokenizer.backend_tokenizer
    core.train_from_iterator((line for line in read_lines(files) if line), trainer)
    rest = sorted(set(core.get_vocab()) - set(SPECIAL))
    return BertTokenizer({piece: i for i, piece in enumerate((*SPECIAL, *rest))}, model_max_length=positions)


def load_text(files: Sequence[Path], tokenizer: BertTokenizer, cache: Path) -> Text:
    """The files' wordpieces, memory-mapped from `cache`; tokenized first if they are not there."""
    digest = _digest(files, tokenizer)
    folder = cache / digest
    if not folder.exists():
        with whole_folder(folder) as started:
            _tokenise(files, tokenizer, started)
    return Text(
        np.memmap(folder / "tokens.bin", np.uint16, "r"),
        np.fromfile(folder / "sentences.bin", np.int64),
        np.fromfile(folder / "documents.bin", np.int64),
        digest,
    )


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """A folder to write into, which takes its name when it is complete, in place of any there."""
    started = folder.with_name(f"started-{os.getpid()}-{folder.name}")
    started.mkdir(parents=True)
    try:
        yield started
        shutil.rmtree(folder, ignore_errors=True)
        started.rename(folder)
    finally:
        shutil.rmtree(started, ignore_errors=True)


def _digest(files: Sequence[Path], tokenizer: BertTokenizer) -> str:
    digest = hashlib.sha256(json.dumps(sorted(tokenizer.get_vocab().items())).encode())
    for path in files:
        digest.update(bytes.fromhex(from_path(path).digest))
    return digest.hexdigest()[:32]


def _tokenise(files: Sequence[Path], tokenizer: BertTokenizer, folder: Path) -> None:
    core = tokenizer.backend_tokenizer
    if core.get_vocab_size() > np.iinfo(np.uint16).max:
        raise InputError("The vocabulary has more than 65,535 entries.", hint="Give a smaller --vocabulary.")
    lengths: list[int] = []
    documents = [0]
    sentences = _sentences(files)
    with (folder / "tokens.bin").open("wb") as out:
        while batch := list(islice(sentences, AT_ONCE)):
            for encoding in core.encode_batch_fast(batch, add_special_tokens=False):
                if encoding.ids:
                    lengths.append(len(encoding.ids))
                    out.write(np.array(encoding.ids, np.uint16).tobytes())
                elif documents[-1] < len(lengths):
                    documents.append(len(lengths))
    np.cumsum([0, *lengths], dtype=np.int64).tofile(folder / "sentences.bin")
    np.array(documents, np.int64).tofile(folder / "documents.bin")
    if len(documents) < 3:
        raise InputError("Next-sentence pairs need two documents.", hint="Put an empty line between documents.")


def _sentences(files: Sequence[Path]) -> Iterator[str]:
    """Sentences in order; an empty string ends a document."""
    for line in read_lines(files):
        yield from SENTENCE_END.split(line)
