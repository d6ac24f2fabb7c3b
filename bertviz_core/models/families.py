"""What is known of families of models by their name alone, the `model_type` of a configuration. All else is observed,
or read from a model's files: a family that stands nowhere here is analyzed too."""

from collections.abc import Mapping
from typing import Any, NamedTuple

# Encoders, which read two texts side by side, with tokens of their own between them. A test looks for further ones in
# transformers.
ENCODERS = (
    *("albert", "bert", "bert-generation", "big_bird", "camembert", "canine", "convbert", "data2vec-text", "deberta"),
    *("deberta-v2", "distilbert", "dpr", "electra", "ernie", "esm", "esmc", "eurobert", "flaubert", "fnet", "funnel"),
    *("gte", "ibert", "jina_embeddings_v3", "layoutlm", "layoutlmv3", "lilt", "longformer", "longt5", "luke"),
    *("markuplm", "megatron-bert", "mluke", "mobilebert", "modernbert", "modernvbert", "mpnet", "mra", "mt5", "neomme"),
    *("nomic_bert", "nystromformer", "perceiver", "reformer", "rembert", "roberta", "roberta-prelayernorm", "roc_bert"),
    *("roformer", "splinter", "squeezebert", "switch_transformers", "t5", "tapas", "ultrabert", "ultravbert", "umt5"),
    *("xlm", "xlm-roberta", "xlm-roberta-xl", "xlnet", "xmod", "yoso"),
)
# Those that count positions from the one after the padding's; those of the second kind count from a fixed one. A test
# looks for further ones in transformers, and the embeddings of a loaded model have the last word.
AFTER_PADDING = (
    *("roberta", "xlm-roberta", "xlm-roberta-xl", "roberta-prelayernorm", "camembert", "xmod", "longformer"),
    *("data2vec-text", "luke", "mluke", "ibert", "esm", "lilt", "markuplm", "layoutlmv3"),
)
AFTER_ONE = ("mpnet",)
SHARED_LAYERS = ("albert",)  # The layers have the same weights.
# Decoders whose logits are a sum of what heads, MLPs and embeddings write; a test adds up each. Of others it shows when
# they are loaded.
ADDITIVE = (
    *("bloom", "cohere2", "deepseek_v3", "falcon", "gemma2", "gemma3_text", "gpt2", "gpt_neo", "gpt_neox", "gpt_oss"),
    *("llama", "llama4_text", "mistral", "mixtral", "olmo2", "olmo3", "opt", "phi3", "qwen2", "qwen3", "smollm3"),
    *("stablelm", "starcoder2"),
)
# Entries of a configuration with which they are none: a norm behind the sum, as in OPT-350m.
NOT_ADDITIVE = {"do_layer_norm_before": False, "apply_residual_connection_post_layernorm": True}


def is_additive(config: Mapping[str, Any]) -> bool:
    """Whether a configuration alone says that logits are such a sum."""
    return config.get("model_type") in ADDITIVE and not any(
        config.get(name) == value for name, value in NOT_ADDITIVE.items()
    )


class LayerNames(NamedTuple):
    """The names of modules in a family's encoder.

    Attributes:
        stack: That of the layers, before a layer's number.
        output: In a layer, that of the output projection of attention: the lengths of its vectors are norms.
    """

    stack: str
    output: str


LAYER_NAMES = {
    **dict.fromkeys(
        ("bert", "camembert", "electra", "roberta", "xlm-roberta"),
        LayerNames(stack="encoder.layer", output="attention.output.dense"),
    ),
    "distilbert": LayerNames(stack="transformer.layer", output="attention.out_lin"),
    "gpt2": LayerNames(stack="h", output="attn.c_proj"),
    **dict.fromkeys(
        ("llama", "mistral", "mixtral", "qwen2", "qwen3", "smollm3"),
        LayerNames(stack="layers", output="self_attn.o_proj"),
    ),
}
