"""A tiny training on the project's own sample text, for tests."""

from __future__ import annotations

from pathlib import Path

from transformers import BertTokenizer

from training.model import Shape
from training.recipe import Recipe
from training.text import Text, load_text, train_vocabulary

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "bertviz_core/assets/corpora/encyclopedia.txt"
VOCABULARY, SIZE, LENGTH, SEED = 1_000, 8, 32, 3
SHAPE = Shape(layers=2, heads=2, width=32, positions=LENGTH)
RECIPE = Recipe(batch=SIZE, length=LENGTH, rate=3e-3, warmup=10, seed=SEED)


def text_and_tokenizer(work: Path) -> tuple[Text, BertTokenizer]:
    tokenizer = train_vocabulary([SAMPLE], VOCABULARY, LENGTH)
    return load_text([SAMPLE], tokenizer, work / "cache"), tokenizer
