"""Small random models of every family of transformers that reads text, and the way in which maps of each are read."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.families import gpt2_bpe, wordpiece

INSIDE, RETURNED, REFUSED = "inside the layers", "returned by the model", "refused"
WIDTH, HEADS, LAYERS, POSITIONS, INNER = 32, 4, 4, 128, 48
SIZES: dict[str, int] = {
    **dict.fromkeys(("hidden_size", "d_model", "n_embd", "emb_dim", "dim", "word_embed_proj_dim"), WIDTH),
    **dict.fromkeys(("num_hidden_layers", "num_layers", "n_layers", "n_layer"), LAYERS),
    **dict.fromkeys(("encoder_layers", "decoder_layers"), 2),
    **dict.fromkeys(("num_attention_heads", "n_heads", "n_head", "num_heads"), HEADS),
    **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), HEADS),
    **dict.fromkeys(("intermediate_size", "ffn_dim", "d_ff", "d_inner", "hidden_dim", "dff", "n_inner"), INNER),
    **dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim", "ffn_hidden_size", "intermediate_size_mlp"), INNER),
    **dict.fromkeys(("max_position_embeddings", "n_positions", "max_seq_len", "n_ctx"), POSITIONS),
    **dict.fromkeys(("head_dim", "d_kv", "d_head", "v_head_dim", "qk_nope_head_dim", "index_head_dim"), 8),
    **dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts"), 4),
    **dict.fromkeys(("moe_intermediate_size", "shared_expert_intermediate_size", "embedding_size"), 16),
    **dict.fromkeys(("input_embedding_size", "output_embedding_size", "q_lora_rank", "kv_lora_rank"), 16),
    **dict.fromkeys(("n_group", "topk_group", "n_shared_experts", "first_k_dense_replace", "mamba_n_groups"), 1),
    **dict.fromkeys(("num_key_value_heads", "num_experts_per_tok", "index_n_heads", "linear_num_key_heads"), 2),
    **dict.fromkeys(("rotary_dim", "qk_rope_head_dim", "mamba_n_heads", "mamba_num_heads"), 4),
    **dict.fromkeys(("mamba_d_head", "mamba_head_dim"), 16),
    **dict.fromkeys(("mamba_d_state", "linear_key_head_dim", "linear_value_head_dim"), 8),
    **dict.fromkeys(("sliding_window", "attention_window", "hidden_size_per_layer_input"), 8),
    **{"linear_num_value_heads": 4, "pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3},
}


@dataclass(frozen=True)
class Architecture:
    """A family in the table of docs/models.md.

    Attributes:
        name: For people.
        way: INSIDE, RETURNED or REFUSED.
        note: What is special about its attention; why it is refused.
        own: Sizes besides SIZES, or in their place.
    """

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
    "modernbert": Architecture("ModernBERT", note="local and global layers", own={"local_attention": 8}),
    "deberta-v2": Architecture(
        "DeBERTa-v2 and v3", RETURNED, "relative positions",
        {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
    ),
    "mpnet": Architecture("MPNet", RETURNED, "relative positions"),
    "xlnet": Architecture("XLNet", RETURNED, "relative positions"),
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
    "gemma3_text": Architecture("Gemma 3, text", note=f"{SHARED}; local and global layers"),
    "phi3": Architecture("Phi-3", note=SHARED),
    "olmo2": Architecture("OLMo 2", note=f"{SHARED}; queries and keys are normalized"),
    "smollm3": Architecture("SmolLM3", note=f"{SHARED}; some layers without positions"),
    "stablelm": Architecture("StableLM", RETURNED, f"{SHARED}; partial rotary positions"),
    "gpt_oss": Architecture(
        "gpt-oss", note="a learned sink takes a part of each row, so that the weights to tokens sum to less than 1"
    ),
    "deepseek_v3": Architecture("DeepSeek-V3", note="multi-head latent attention"),
    "squeezebert": Architecture(
        "SqueezeBERT", REFUSED, "it returns scores before the softmax",
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
    "bart": Architecture("BART and other pairs of encoder and decoder", REFUSED, "their maps are of two texts"),
}  # fmt: skip


ALTERNATE = ["linear_attention", "full_attention"] * 2
OWN: dict[str, dict[str, Any]] = {  # of types that are not in ARCHITECTURES; None for what must not be given
    "bailing_hybrid": {"layer_types": ALTERNATE},
    "bamba": {"attn_layer_indices": [1, 3]},
    "big_bird": {"attention_type": "original_full"},
    "dots3_note_text": {"num_key_value_heads": 4},
    "esmc": {"num_key_value_heads": 4},
    "falcon_h1": {"mamba_d_ssm": 64},
    "gemma3n_text": {"num_kv_shared_layers": 0, "laurel_rank": 8},
    "gpt_neo": {"attention_types": [[["global", "local"], 2]]},
    "granitemoehybrid": {"layer_types": ["mamba", "attention"] * 2},
    "jamba": {"attn_layer_period": 2, "attn_layer_offset": 1},
    "kimi_linear": {"layer_types": ALTERNATE},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"] * 2},
    "longcat_flash": {"qk_rope_head_dim": 4, "head_dim": 4, "zero_expert_num": 1},
    "luke": {"entity_vocab_size": 10, "entity_emb_size": 16},
    "mamba2": {"num_heads": 4, "head_dim": 16, "n_groups": 1, "state_size": 8},
    "nemotron_h": {"layers_block_type": ["mamba", "attention"] * 2, "num_hidden_layers": None},
    "neomme": {"head_dim": 16},
    "reformer": {
        "axial_pos_embds": False, "attention_head_size": 8, "feed_forward_size": 48, "attn_layers": ["local", "lsh"],
        "num_hidden_layers": None,
    },
    "xmod": {"languages": ["en_XX"], "default_language": "en_XX"},
    "zamba": {"layer_types": ["mamba", "hybrid"] * 2},
    "zaya": {"num_experts_per_tok": 1},
}  # fmt: skip
OTHER_WAYS = {  # of types that are not in ARCHITECTURES, where maps are not read inside the layers
    RETURNED: (
        "axk2 big_bird codegen deberta deepseek_v32 diffllama flaubert glm_moe_dsa gpt_neo gpt_neox_japanese gptj "
        "granite_swa granitemoe_swa ibert luke megatron-bert mpt nemotron openai-gpt reformer rembert roformer tapas "
        "xlm"
    ),
    REFUSED: (
        "bigbird_pegasus blenderbot blenderbot-small cpmant deepseek_v4 falcon_mamba fnet gemma3n_text hrm_text hy_v4 "
        "inkling2_text mamba mamba2 marian mbart minimax mra mvp nemotron_h pegasus plbart prophetnet rwkv whisper "
        "xglm xlstm"
    ),
}
SKIPPED = {  # types of transformers that are not tried -> why
    "blt": "bytes are joined to patches by three models, each with a configuration of its own",
    "cohere_compass_text": "its configuration lacks rope parameters for each type of layer, without a default",
    "dbrx": "sizes are in configurations of its attention and its experts",
    "dots3_note": "reads pictures and sound",
    "dots3_note_text": "layers differ in their numbers of heads, named layer by layer in its configuration",
    "emu3": "reads and draws pictures",
    "funnel": "sizes are those of blocks, and it returns maps between pooled tokens",
    "fuyu": "reads pictures",
    "gemma3": "reads pictures; its text model is gemma3_text",
    "gemma3n": "reads pictures and sound; its text model is gemma3n_text",
    "gemma4": "reads pictures and sound; its text model is gemma4_text",
    "gemma4_assistant": "part of gemma4, not built by AutoModel",
    "gemma4_unified": "reads pictures and sound; its text model is gemma4_unified_text",
    "gemma4_unified_assistant": "part of gemma4_unified, not built by AutoModel",
    "git": "reads pictures",
    "got_ocr2": "reads pictures",
    "llama4": "reads pictures; its text model is llama4_text",
    "mllama": "reads pictures",
    "modernvbert": "reads pictures; its text model is modernbert",
    "moss_transcribe_diarize": "reads sound",
    "musicgen": "makes sound",
    "musicgen_melody": "makes sound",
    "perceiver": "attends from latent vectors, not from tokens; 1 GB where sizes are its own",
    "phi4_multimodal": "reads pictures and sound",
    "qwen3_5": "reads pictures; its text model is qwen3_5_text",
    "qwen3_5_moe": "reads pictures; its text model is qwen3_5_moe_text",
    "qwen4_exp": "reads pictures",
    "qwen4_exp_text": "its configuration has no sizes of the indexer, and no default fills them in",
    "t5gemma": "an encoder and a decoder, of which transformers builds no encoder by its configuration",
    "trocr": "the decoder of a reader of pictures, not built by AutoModel",
    "ultravbert": "reads pictures",
    "zamba2": "its shared attention layers are numbered by a list that changes with the number of layers",
}


def model_types() -> list[str]:
    """Every type of transformers that reads text, but those of ARCHITECTURES and SKIPPED."""
    from transformers.models.auto import modeling_auto as auto

    mappings = (
        auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
        auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES,
        auto.MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES,
    )
    return sorted({name for mapping in mappings for name in mapping} - SKIPPED.keys() - ARCHITECTURES.keys())


def way_of(model_type: str) -> str:
    """The way in which maps of a type that is not in ARCHITECTURES are read."""
    return next((way for way, names in OTHER_WAYS.items() if model_type in names.split()), INSIDE)


def save(model_type: str, folder: Path, own: dict[str, Any]) -> Path:
    """A small random model of a type with a tokenizer, written as save_pretrained does; attention is made uneven."""
    import torch
    from transformers import CONFIG_MAPPING, AutoModel, AutoModelForTextEncoding
    from transformers.models.auto.modeling_auto import MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES

    kind = CONFIG_MAPPING[model_type]
    tokenizer = gpt2_bpe() if model_type in ("gpt2", "llama", "qwen3", "opt") else wordpiece()
    names = {*kind().to_dict(), *kind.attribute_map}
    sizes = {name: size for name, size in SIZES.items() if name in names} | {"vocab_size": len(tokenizer) + 8}
    if "kv_lora_rank" in names:  # latent attention has as many keys as queries, of a width of their own
        sizes |= {"num_key_value_heads": HEADS}
        sizes.pop("head_dim", None)
    config = kind(**{name: size for name, size in (sizes | own).items() if size is not None})
    encoder = MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES.get(model_type, "").endswith("EncoderModel")
    auto = AutoModelForTextEncoding if encoder else AutoModel
    torch.manual_seed(0)
    model = auto.from_config(config)
    for name, weight in model.named_parameters():
        if weight.dim() > 1:
            torch.nn.init.normal_(weight, std=0.2 if "embed" not in name else 1.0)
        elif name.endswith("sinks"):
            torch.nn.init.normal_(weight)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def table() -> str:
    """The table of docs/models.md."""
    rows = [f"| {row.name} | {row.way} | {row.note} |" for row in ARCHITECTURES.values()]
    return "\n".join(["| Family | Maps are | |", "| --- | --- | --- |", *rows])
