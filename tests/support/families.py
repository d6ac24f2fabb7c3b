"""Tiny random models of many families, with tokenizers made on the spot; nothing is downloaded."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from bertviz_core.corpora.files import sample
from bertviz_core.models.checkpoint import DEMO_FOLDER

TEXT = [
    "the cat sat on the mat , and the dog slept near the door .",
    "A river runs through the old town. Its water turns the wheels of three mills, and feeds the fields.",
    "In the evening the lamps are lit; people walk home, talk, and close their shutters against the wind.",
    "Unhappily the gardener's newest greenhouses were too small for the tallest palms.",
]
STEPS = (0, 10, 200)  # of a training
LETTERS = [chr(code) for code in range(97, 123)]


@dataclass(frozen=True)
class Family:
    """How to make one, the class of its configuration by name; and what loading must find."""

    config: str
    sizes: dict[str, Any]
    tokenizer: Callable[[], Any]
    observable: bool = True
    causal: bool = False
    types: bool = False
    layers: int = 2
    heads: int = 2


def fast(tokenizer: Tokenizer, **names: str) -> Any:
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)


def wordpiece() -> Any:
    """Lower-casing, accent-stripping BERT tokenizer: [PAD] 0, [UNK] 1, [CLS] 2, [SEP] 3, [MASK] 4."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = sorted({word for line in TEXT for word in _words(line)})
    pieces = [*special, *".,;'[]", *LETTERS, *(f"##{letter}" for letter in LETTERS), *words]
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), special, strict=True))
    return fast(tokenizer, **names)


@cache
def small_tokenizer() -> Any:
    """The demo model's with 2,000 word pieces: beside its 30,522 the layers of networks this small take no time."""
    from transformers import AutoTokenizer

    whole = AutoTokenizer.from_pretrained(DEMO_FOLDER)
    return whole.train_new_from_iterator((line for _, line in sample("encyclopedia").lines()), vocab_size=2000)


def roberta_bpe() -> Any:
    """Byte-level BPE with a leading space as Ġ: <s> 0, <pad> 1, </s> 2, <unk> 3, <mask> 4."""
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    tokenizer = _byte_level(special)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    names = {"cls_token": "<s>", "bos_token": "<s>", "pad_token": "<pad>", "sep_token": "</s>", "eos_token": "</s>"}
    return fast(tokenizer, unk_token="<unk>", mask_token="<mask>", **names)


def gpt2_bpe() -> Any:
    """Byte-level BPE without CLS, SEP or padding: only <|endoftext|>."""
    end = "<|endoftext|>"
    return fast(_byte_level([end]), unk_token=end, bos_token=end, eos_token=end)


def bos_bpe() -> Any:
    """Byte-level BPE with <s> before every text, as decoders have it, and no CLS or SEP."""
    tokenizer = _byte_level(["<s>", "</s>", "<pad>"])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A $B:1", special_tokens=[("<s>", 0)]
    )
    return fast(tokenizer, bos_token="<s>", eos_token="</s>", pad_token="<pad>")


def unigram() -> Any:
    """SentencePiece-like: Unigram pieces with ▁ for a leading space; framed A <sep> B <sep> <cls>; <unk> is 0."""
    special = ["<unk>", "<pad>", "<cls>", "<sep>", "<mask>"]
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=150, special_tokens=special, unk_token="<unk>", initial_alphabet=LETTERS, show_progress=False
    )
    tokenizer.train_from_iterator(TEXT, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A <sep> <cls>", pair="$A <sep> $B:1 <sep>:1 <cls>:2", special_tokens=[("<cls>", 2), ("<sep>", 3)]
    )
    names = dict(zip(("unk_token", "pad_token", "cls_token", "sep_token", "mask_token"), special, strict=True))
    return fast(tokenizer, **names)


def _byte_level(special: list[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=320, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(TEXT, trainer)
    return tokenizer


def _words(line: str) -> list[str]:
    for mark in ".,;'":
        line = line.replace(mark, " ")
    return line.lower().split()


_BERT = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
_BERT |= {"max_position_embeddings": 64}
_ROBERTA = _BERT | {"max_position_embeddings": 66}  # its positions begin at 2
_RELATIVE = {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "type_vocab_size": 0}
FAMILIES = {
    "bert": Family("BertConfig", _BERT, wordpiece, types=True),
    "distilbert": Family(
        "DistilBertConfig",
        {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32, "max_position_embeddings": 64},
        wordpiece,
    ),
    "roberta": Family(
        "RobertaConfig",
        _ROBERTA | {"type_vocab_size": 1, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2},
        roberta_bpe,
    ),
    "albert": Family("AlbertConfig", _BERT | {"embedding_size": 8}, wordpiece, types=True),
    "electra": Family("ElectraConfig", _BERT | {"embedding_size": 8}, wordpiece, types=True),
    "modernbert": Family(
        "ModernBertConfig",
        _BERT
        | {"num_hidden_layers": 3, "global_attn_every_n_layers": 2, "local_attention": 8, "reference_compile": False}
        | {"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3, "cls_token_id": 2, "sep_token_id": 3},
        wordpiece,
        layers=3,
    ),
    "gpt2": Family("GPT2Config", {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 64}, gpt2_bpe, causal=True),
    "llama": Family(
        "LlamaConfig", _BERT | {"num_attention_heads": 4, "num_key_value_heads": 2}, bos_bpe, causal=True, heads=4
    ),
    "opt": Family("OPTConfig", _BERT | {"ffn_dim": 32, "word_embed_proj_dim": 16}, bos_bpe, causal=True),
    "deberta-v2": Family("DebertaV2Config", _BERT | _RELATIVE, wordpiece, observable=False),
    "mpnet": Family("MPNetConfig", _ROBERTA, roberta_bpe, observable=False),
    "xlnet": Family(
        "XLNetConfig", {"d_model": 16, "n_layer": 2, "n_head": 2, "d_inner": 32}, unigram, observable=False
    ),
}
DECODERS = {name: family for name, family in FAMILIES.items() if family.causal}


def save(family: Family, folder: Path, seed: int = 0, auto: str = "AutoModel", spread: float = 0.35) -> Path:
    """A random model of the family and its tokenizer, written as save_pretrained does. Attention is made uneven.

    auto: the bare encoder, or a class with a head, such as AutoModelForMaskedLM.
    """
    from bertviz_core.models.libraries import torch, transformers  # beside a page's preview

    tokenizer = family.tokenizer()
    config = getattr(transformers, family.config)(**{"vocab_size": len(tokenizer)} | family.sizes)
    torch.manual_seed(seed)
    model = getattr(transformers, auto).from_config(config)
    for name, weight in model.named_parameters():
        if weight.dim() > 1:  # the library's own spread of 0.02 gives almost uniform attention: a weak test
            torch.nn.init.normal_(weight, std=spread if "embed" not in name else 1.0)
        elif name.endswith("sinks"):
            torch.nn.init.normal_(weight)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def save_training(
    folder: Path, steps: Sequence[int] = STEPS, auto: str = "AutoModelForMaskedLM", family: Family = FAMILIES["bert"]
) -> Path:
    """Folders step-0000000, ... of one shape and vocabulary, other weights at each step, as a training keeps them."""
    for step in steps:
        save(family, folder / f"step-{step:07d}", seed=step, auto=auto)
    return folder
