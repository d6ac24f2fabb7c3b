"""Tiny random models with masked-word heads, written as save_pretrained writes them, and a tokenizer for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

WORDS = ["the", "a", "cat", "dog", "bird", "river", "town", "old", "mill", "sat", "ran", "sang", "near", "under"]
WORDS += ["and", "door", "evening", "wind", "lamp", "field", ".", ",", ";"]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
CLS, SEP, MASK = 2, 3, 4
POINT, COMMA = (len(SPECIAL) + WORDS.index(mark) for mark in ".,")
TEXT = """the old cat sat near the door , and the dog ran .
a bird sang under the mill .
the evening wind ran
the river

a lamp , a field , a town ; the old dog sat and sang near the old river under the wind
the cat ran and the bird sang .

the mill
"""
_SIZES = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
}
CONFIGS: dict[str, tuple[str, dict[str, Any]]] = {
    "bert": ("BertConfig", _SIZES),
    "distilbert": (
        "DistilBertConfig",
        {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32, "max_position_embeddings": 64},
    ),
    "roberta": ("RobertaConfig", _SIZES | {"type_vocab_size": 1}),
    "albert": ("AlbertConfig", _SIZES | {"embedding_size": 8}),
    "electra": ("ElectraConfig", _SIZES | {"embedding_size": 8}),
    "deberta-v2": (
        "DebertaV2Config",
        _SIZES | {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "type_vocab_size": 0},
    ),
}


def tokenizer() -> Any:
    """Whole words, `[CLS] A [SEP] B [SEP]`."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.WordLevel({word: i for i, word in enumerate([*SPECIAL, *WORDS])}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", CLS), ("[SEP]", SEP)]
    )
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    return PreTrainedTokenizerFast(tokenizer_object=made, **dict(zip(names, SPECIAL, strict=True)))


def save(folder: Path, family: str = "bert", auto: str = "AutoModelForMaskedLM") -> Path:
    """A random model of the family; its weights are wide, so that attention and gradients are uneven."""
    import torch
    import transformers

    name, sizes = CONFIGS[family]
    config = getattr(transformers, name)(vocab_size=len(SPECIAL) + len(WORDS), **sizes)
    torch.manual_seed(0)
    model = getattr(transformers, auto).from_config(config)
    for weight in model.parameters():
        if weight.dim() > 1:
            torch.nn.init.normal_(weight, std=0.35)
    model.save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder
