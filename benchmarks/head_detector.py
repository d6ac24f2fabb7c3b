"""Scores of heads beside TransformerLens' head detector, where both define the same: prefix matching, duplicate token
and previous token, of random models in GPT-2's and in Llama's shape, on the same inputs.

TransformerLens is not among the requirements: run this in an environment that has both. Nothing is downloaded. Its
score ("mul") is the attention that a head gives to a pattern's pairs, divided by all attention, that is by the rows of
the input. Prefix matching and duplicate token are means over the rows that repeat something: as many times larger as
the input has rows for each of these. The share of the previous token is the same in both.
"""

import argparse
import tempfile
from typing import Any

import numpy as np

import bertviz_core as bv
from bertviz_core.corpora.source import from_bytes
from bertviz_core.inputs.segments import RandomSequences
from bertviz_core.inputs.tokens import Tokens
from bertviz_core.settings import Settings

VOCABULARY = 500
SIZES = {"vocab_size": VOCABULARY, "bos_token_id": 1, "eos_token_id": 1}
GPT2 = SIZES | {"n_embd": 64, "n_layer": 3, "n_head": 4, "n_positions": 128}
LLAMA = SIZES | {"hidden_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2}
LLAMA |= {"intermediate_size": 128, "max_position_embeddings": 128}
SHAPES = {"gpt2": ("GPT2", GPT2, False), "llama": ("Llama", LLAMA, True)}  # class, sizes, whether texts begin with BOS
DETECTORS = {"prefix": "induction_head", "duplicate": "duplicate_token_head", "previous": "previous_token_head"}
TOLERANCE = 1e-5  # both sides are float32


def random_pair(shape: str) -> tuple[Any, Any]:
    """(model, tokenizer) with uneven attention; each of the words w2, w3, ... is a token."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    kind, sizes, has_bos = SHAPES[shape]
    torch.manual_seed(0)
    names = ["<unk>", "<s>", *(f"w{i}" for i in range(2, VOCABULARY))]
    words = Tokenizer(models.WordLevel({name: i for i, name in enumerate(names)}, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    if has_bos:
        words.post_processor = processors.TemplateProcessing(
            single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 1)]
        )
    config = getattr(transformers, f"{kind}Config")(**sizes, attn_implementation="eager")
    model = getattr(transformers, f"{kind}{'LMHeadModel' if kind == 'GPT2' else 'ForCausalLM'}")(config).eval()
    for name, weight in model.named_parameters():
        if weight.dim() > 1:  # the usual spread of 0.02 gives almost uniform attention
            torch.nn.init.normal_(weight, std=1.0 if "embed" in name or "wte" in name else 0.2)
    return model, transformers.PreTrainedTokenizerFast(tokenizer_object=words, unk_token="<unk>", eos_token="<s>")


def repeated(tokenizer: Any, settings: Settings) -> list[tuple[str, int, int]]:
    """(text, rows, rows that repeat something) of each repeated sequence of the analysis."""
    tokens = Tokens(tokenizer, one_text=True)
    sequences = RandomSequences(from_bytes(b"", "random"), tokens, settings)
    around = sum(map(len, tokens.single))
    return [
        (" ".join(tokens.names(example.ids[len(tokens.single[0]) :])), 2 * sequences.size + around, sequences.size)
        for example in list(sequences)[::2]
    ]


def detected(shape: str, settings: Settings) -> dict[str, np.ndarray]:
    """The detector's scores (layer, head), on the scale of the quantities here."""
    import torch
    from transformer_lens.head_detector import detect_head
    from transformer_lens.model_bridge import TransformerBridge

    model, tokenizer = random_pair(shape)
    inputs = repeated(tokenizer, settings)
    lens = TransformerBridge.boot_transformers(shape, hf_model=model, tokenizer=tokenizer, device="cpu")
    ids = {text: torch.tensor([tokenizer(text)["input_ids"]]) for text, *_ in inputs}
    lens.to_tokens = ids.__getitem__  # It would put a BOS of its own before them.
    scores = {}
    with torch.inference_mode():
        for name, detector in DETECTORS.items():
            values = [
                detect_head(lens, text, detector).double() * (1 if name == "previous" else rows / counted)
                for text, rows, counted in inputs
            ]
            scores[name] = torch.stack(values).mean(0).numpy()
    return scores


def analyzed(shape: str, settings: Settings) -> dict[str, np.ndarray]:
    """The quantities of induction; of the previous token that of surface patterns, on the same inputs."""
    pair = random_pair(shape)
    texts = [text for text, *_ in repeated(pair[1], settings)]
    options = {"model": pair, "max_length": settings.max_length, "device": "cpu"}
    with tempfile.TemporaryDirectory() as store:
        induction = bv.analyze("induction", limit=settings.limit, store=store, **options)
        surface = bv.analyze("surface_patterns", corpus=texts, store=store, **options)
    return {"prefix": induction["prefix"], "duplicate": induction["duplicate"], "previous": surface["previous"]}


def largest_differences(shape: str, inputs: int, length: int) -> dict[str, float]:
    """For each quantity the largest difference of a head between both sides."""
    settings = Settings(limit=2 * inputs, max_length=length)
    theirs, here = detected(shape, settings), analyzed(shape, settings)
    return {name: float(np.abs(here[name] - theirs[name]).max()) for name in DETECTORS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=10, help="repeated sequences of each model")
    parser.add_argument("--length", type=int, default=64, help="tokens of an input")
    options = parser.parse_args()
    print("| model | quantity | largest difference |\n| --- | --- | --- |")
    differences = {shape: largest_differences(shape, options.inputs, options.length) for shape in SHAPES}
    for shape, found in differences.items():
        for name, difference in found.items():
            print(f"| {shape} | {name} | {difference:.1e} |")
    agree = all(value <= TOLERANCE for found in differences.values() for value in found.values())
    print("Both agree." if agree else f"They differ by more than {TOLERANCE:g}.")
    raise SystemExit(not agree)


if __name__ == "__main__":
    main()
