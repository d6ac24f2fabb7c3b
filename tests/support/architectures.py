"""Small random models of the families in docs/models.md, and the way in which maps of each are read."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support import families
from tests.support.families import Family, gpt2_bpe, wordpiece

INSIDE, RETURNED, REFUSED = "inside the layers", "returned by the model", "refused"
WIDTH, HEADS, LAYERS, POSITIONS, INNER, WINDOW = 32, 4, 4, 128, 48, 8
SIZES: dict[str, int] = {
    **dict.fromkeys(("hidden_size", "d_model", "n_embd", "dim", "word_embed_proj_dim"), WIDTH),
    **dict.fromkeys(("num_hidden_layers", "num_layers", "n_layers", "n_layer"), LAYERS),
    **dict.fromkeys(("encoder_layers", "decoder_layers"), 2),
    **dict.fromkeys(("num_attention_heads", "n_heads", "n_head", "num_heads"), HEADS),
    **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), HEADS),
    **dict.fromkeys(("intermediate_size", "ffn_dim", "d_ff", "d_inner", "hidden_dim", "n_inner"), INNER),
    **dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim", "ffn_hidden_size"), INNER),
    **dict.fromkeys(("max_position_embeddings", "n_positions"), POSITIONS),
    **dict.fromkeys(("head_dim", "d_kv", "d_head", "v_head_dim", "qk_nope_head_dim"), 8),
    **dict.fromkeys(("sliding_window", "attention_window", "attention_chunk_size", "window_size"), WINDOW),
    **dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts", "qk_rope_head_dim"), 4),
    **dict.fromkeys(("moe_intermediate_size", "embedding_size", "q_lora_rank", "kv_lora_rank"), 16),
    **dict.fromkeys(("n_group", "topk_group", "n_shared_experts", "first_k_dense_replace"), 1),
    **dict.fromkeys(("num_key_value_heads", "num_experts_per_tok", "max_window_layers"), 2),
    **{"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3, "use_sliding_window": True},
}
ORIGINAL = {"original_max_position_embeddings": 64, "rope_theta": 10000.0, "factor": 4.0}
LONGROPE = {"rope_type": "longrope", "short_factor": [1.0] * 4, "long_factor": [4.0] * 4, **ORIGINAL}
BOTH = {"layer_types": ["sliding_attention", "full_attention"] * 2}


@dataclass(frozen=True)
class Architecture:
    """A family in the table of docs/models.md; `own` are sizes besides SIZES, or in their place."""

    name: str
    way: str = INSIDE
    note: str = ""
    own: dict[str, Any] = field(default_factory=dict)


SHARED = "key and value heads are shared by several query heads"
ARCHITECTURES = {  # by model_type
    "bert": Architecture("BERT"),
    "roberta": Architecture("RoBERTa"),
    "xlm-roberta": Architecture("XLM-RoBERTa"),
    "distilbert": Architecture("DistilBERT"),
    "albert": Architecture("ALBERT", note="all layers have the same weights"),
    "electra": Architecture("ELECTRA"),
    "modernbert": Architecture("ModernBERT", note="local and global layers", own={"local_attention": WINDOW}),
    "deberta-v2": Architecture(
        "DeBERTa-v2 and v3",
        RETURNED,
        "relative positions",
        {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]}
        | {"position_buckets": 16, "max_relative_positions": 32},
    ),
    "mpnet": Architecture("MPNet", RETURNED, "relative positions", {"max_position_embeddings": 512}),
    "xlnet": Architecture("XLNet", RETURNED, "relative positions", {"clamp_len": 16}),
    "t5": Architecture("T5, its encoder", note="a bias for each distance"),
    "mt5": Architecture("mT5, its encoder", note="a bias for each distance"),
    "gpt2": Architecture("GPT-2"),
    "gpt_neox": Architecture("GPT-NeoX, Pythia", note="partial rotary positions"),
    "opt": Architecture("OPT"),
    "bloom": Architecture("BLOOM", RETURNED, "ALiBi"),
    "falcon": Architecture("Falcon", RETURNED, "one key and value head for all, or ALiBi", {"alibi": True}),
    "llama": Architecture("Llama", note=SHARED),
    "mistral": Architecture("Mistral", note=f"{SHARED}; a sliding window"),
    "mixtral": Architecture("Mixtral", note=SHARED),
    "qwen2": Architecture("Qwen2", note=SHARED),
    "qwen3": Architecture("Qwen3", note=f"{SHARED}; queries and keys are normalized"),
    "gemma2": Architecture("Gemma 2", note=f"{SHARED}; scores are capped", own={"attn_logit_softcapping": 2.0}),
    "gemma3_text": Architecture("Gemma 3, text", note=f"{SHARED}; local and global layers", own=BOTH),
    "phi3": Architecture(
        "Phi-3", note=SHARED, own={"rope_parameters": LONGROPE, "original_max_position_embeddings": 64}
    ),
    "olmo2": Architecture("OLMo 2", note=f"{SHARED}; queries and keys are normalized"),
    "smollm3": Architecture("SmolLM3", note=f"{SHARED}; some layers without positions", own=BOTH),
    "stablelm": Architecture("StableLM", RETURNED, f"{SHARED}; partial rotary positions"),
    "gpt_oss": Architecture(
        "gpt-oss",
        note="a learned sink takes a part of each row, so that the weights to tokens sum to less than 1",
        own={"rope_parameters": {"rope_type": "yarn", **ORIGINAL}},
    ),
    "deepseek_v3": Architecture("DeepSeek-V3", note="multi-head latent attention"),
    "gpt_neo": Architecture(
        "GPT-Neo", RETURNED, "local and global layers", {"attention_types": [[["global", "local"], LAYERS // 2]]}
    ),
    "starcoder2": Architecture("StarCoder2", note=f"{SHARED}; a sliding window"),
    "cohere2": Architecture("Command R7B (Cohere 2)", note=f"{SHARED}; local and global layers", own=BOTH),
    "olmo3": Architecture(
        "OLMo 3", note=f"{SHARED}; queries and keys are normalized; local and global layers", own=BOTH
    ),
    "llama4_text": Architecture(
        "Llama 4, text",
        note=f"{SHARED}; layers within chunks, and layers without positions",
        own={"floor_scale": 16, "intermediate_size_mlp": INNER},
    ),
    "squeezebert": Architecture(
        "SqueezeBERT",
        REFUSED,
        "it returns scores before the softmax",
        {"embedding_size": 32}
        | dict.fromkeys(
            ("q_groups", "k_groups", "v_groups", "post_attention_groups", "intermediate_groups", "output_groups"), 1
        ),
    ),
    "convbert": Architecture("ConvBERT", REFUSED, "its maps depend on the padding of the batch"),
    "nystromformer": Architecture("Nyströmformer", REFUSED, "its maps depend on the padding of the batch"),
    "mobilebert": Architecture("MobileBERT", REFUSED, "its maps depend on the padding, where [PAD] has an embedding"),
    "longformer": Architecture("Longformer", REFUSED, "it returns windows, no maps of all tokens"),
    "yoso": Architecture("YOSO", REFUSED, "it returns no maps"),
    "big_bird": Architecture("BigBird", REFUSED, "it returns no maps"),
    "bart": Architecture("BART and other pairs, such as Marian and M2M100, their encoder", INSIDE, ""),
}


def family_of(model_type: str) -> Family:
    """The sizes of a small model of this family, and its tokenizer."""
    from transformers import CONFIG_MAPPING

    kind = CONFIG_MAPPING[model_type]
    tokenizer = gpt2_bpe if model_type in ("gpt2", "llama", "qwen3", "opt") else wordpiece
    names = {*kind().to_dict(), *kind.attribute_map}
    sizes = {name: size for name, size in SIZES.items() if name in names} | {"vocab_size": len(tokenizer()) + 8}
    if "kv_lora_rank" in names:  # latent attention has as many keys as queries, of a width of their own
        sizes |= {"num_key_value_heads": HEADS}
        sizes.pop("head_dim", None)
    return Family(kind.__name__, sizes | ARCHITECTURES[model_type].own, tokenizer)


def library_model(folder: Path, kind: type) -> Any:
    """The model of this class in a folder, with eager attention, as the library alone opens it."""
    from transformers import AutoModel

    # The encoder of a pair, such as BartEncoder, does not find its weights in the file of the pair.
    inside_a_pair = kind.__name__.endswith("Encoder")
    opened = AutoModel if inside_a_pair else kind
    model = opened.from_pretrained(folder, attn_implementation="eager", dtype="float32").eval()
    return model.get_encoder() if inside_a_pair else model


def save(model_type: str, folder: Path) -> Path:
    """A small random model of a family with a tokenizer, written as save_pretrained does; attention is made uneven."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES

    is_encoder = MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES.get(model_type, "").endswith("EncoderModel")
    auto = "AutoModelForTextEncoding" if is_encoder else "AutoModel"
    return families.save(family_of(model_type), folder, auto=auto, spread=0.2)
