"""Of a pair of encoder and decoder the encoder is opened, whose maps are those that the pair itself returns."""

import numpy as np
import pytest
import torch
import transformers
from transformers import AutoTokenizer

import bertviz_core as bv

SIZES = {"d_model": 16, "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
SIZES |= {f"{part}_{name}": 2 for part in ("encoder", "decoder") for name in ("layers", "attention_heads")}
SIZES |= {"encoder_ffn_dim": 16, "decoder_ffn_dim": 16, "decoder_start_token_id": 2}
BERT = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
GEMMA = BERT | {"num_key_value_heads": 1, "head_dim": 8, "layer_types": ["full_attention"] * 2}


def built(family, vocabulary):
    torch.manual_seed(0)
    if family == "EncoderDecoder":
        parts = [transformers.BertConfig(vocab_size=vocabulary, **BERT) for _ in range(2)]
        config = transformers.EncoderDecoderConfig.from_encoder_decoder_configs(*parts)
        return transformers.EncoderDecoderModel(config=config)
    if family == "T5Gemma":
        part = GEMMA | {"vocab_size": vocabulary}
        config = transformers.T5GemmaConfig(encoder=part, decoder=part, vocab_size=vocabulary)
        return transformers.T5GemmaForConditionalGeneration(config)
    config = getattr(transformers, f"{family}Config")(vocab_size=vocabulary, **SIZES)
    kind = getattr(transformers, f"{family}MTModel", None) or getattr(transformers, f"{family}ForConditionalGeneration")
    return kind(config)


@pytest.mark.parametrize("family", ["Marian", "Bart", "M2M100", "Pegasus", "EncoderDecoder", "T5Gemma"])
def test_the_encoder_of_a_pair(family, tiny_folder, tmp_path):
    tokenizer = AutoTokenizer.from_pretrained(tiny_folder)
    model = built(family, len(tokenizer)).eval()
    for part in (model, tokenizer):
        part.save_pretrained(tmp_path)
    model.set_attn_implementation("eager")
    ids = tokenizer("the cat sat on the mat", return_tensors="pt")["input_ids"]
    with torch.no_grad():
        maps = model.get_encoder()(input_ids=ids, output_attentions=True).attentions
    expected = np.stack([each[0].numpy() for each in maps])
    for opened in (str(tmp_path), (model, tokenizer)):
        lines = bv.attention(opened, "the cat sat on the mat")
        np.testing.assert_allclose(lines.weights, expected, atol=1e-6)


def test_a_model_that_reads_no_text_is_named_before_it_is_loaded(tiny_folder, tmp_path):
    sound = transformers.WhisperConfig(vocab_size=99, num_mel_bins=8, max_source_positions=16, **SIZES)
    small = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    images = transformers.ViTConfig(**small, image_size=8, patch_size=4)
    clip = transformers.CLIPConfig(
        text_config={**small, "vocab_size": 99}, vision_config={**small, "image_size": 8, "patch_size": 4}
    )
    for name, model in {
        "WhisperModel, which reads input features": transformers.WhisperForConditionalGeneration(sound),
        "ViTModel, which reads pixel values": transformers.ViTModel(images),
        "CLIPModel, which reads images beside texts": transformers.CLIPModel(clip),
    }.items():
        folder = tmp_path / name[:3]
        for part in (model, AutoTokenizer.from_pretrained(tiny_folder)):
            part.save_pretrained(folder)
        with pytest.raises(bv.BertvizError, match=name):
            bv.attention(folder, "the cat")
