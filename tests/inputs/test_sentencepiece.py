"""Models with a SentencePiece model as their only tokenizer file, as their authors ship them."""

import json
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import transformers

from bertviz_core.corpora import Skipped
from bertviz_core.errors import ModelError
from bertviz_core.inputs.encoding import collate, encode_words
from bertviz_core.models import checkpoint, loading
from bertviz_core.models.attention import forward
from tests.support.families import TEXT

SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
SIZES |= {"max_position_embeddings": 66}
RELATIVE = {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "type_vocab_size": 0}
GROUPED = {"num_key_value_heads": 2}
T5 = {"d_model": 32, "d_ff": 64, "d_kv": 8, "num_layers": 2, "num_heads": 4}
XLNET = {"d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 64}
BERT = {"pad_id": 0, "bos_id": 1, "eos_id": 2, "unk_id": 3}
BERT |= {"pad_piece": "[PAD]", "bos_piece": "[CLS]", "eos_piece": "[SEP]", "unk_piece": "[UNK]"}
BYTES = {"model_type": "bpe", "byte_fallback": True, "vocab_size": 400, "hard_vocab_limit": True}
PADDED = {"pad_id": 0, "eos_id": 1, "bos_id": 2, "unk_id": 3}
MODELS: dict[str, tuple[dict[str, Any], str, dict[str, Any]]] = {  # family: sizes, name of the file, how it is trained
    "DebertaV2": (SIZES | RELATIVE, "spm.model", BERT),
    "XLMRoberta": (SIZES | {"pad_token_id": 1}, "sentencepiece.bpe.model", {}),
    "Camembert": (SIZES | {"pad_token_id": 1}, "sentencepiece.bpe.model", {}),
    "Albert": (SIZES, "spiece.model", {"control_symbols": "[CLS],[SEP],[MASK]", "pad_id": 3, "pad_piece": "<pad>"}),
    "XLNet": (XLNET, "spiece.model", {"control_symbols": "<cls>,<sep>,<pad>,<mask>"}),
    "T5": (T5, "spiece.model", {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}),
    "Llama": (SIZES | GROUPED, "tokenizer.model", BYTES),
    "Gemma": (SIZES | GROUPED | {"head_dim": 8}, "tokenizer.model", BYTES | PADDED),
    "BertGeneration": (SIZES, "spiece.model", {}),
}


def train(folder: Path, **options: Any) -> Path:
    """A small SentencePiece model."""
    text = folder / "text.txt"
    text.write_text("\n".join(TEXT * 4))
    options = {"vocab_size": 120, "hard_vocab_limit": False, "minloglevel": 2} | options
    sentencepiece.SentencePieceTrainer.train(input=str(text), model_prefix=str(folder / "trained"), **options)
    return folder / "trained.model"


def save(family: str, folder: Path) -> Path:
    """A random model of the family with nothing but its SentencePiece model and a configuration of the tokenizer."""
    sizes, file, options = MODELS[family]
    trained = train(folder, **options)
    kind = getattr(transformers, family + ("EncoderModel" if family in ("T5", "BertGeneration") else "Model"), None)
    kind = kind or transformers.BertGenerationEncoder
    config = getattr(transformers, f"{family}Config")(vocab_size=700, **sizes)
    kind(config).save_pretrained(folder / "model")
    trained.rename(folder / "model" / file)
    settings = {"tokenizer_class": f"{family}Tokenizer"}
    (folder / "model" / "tokenizer_config.json").write_text(json.dumps(settings))
    return folder / "model"


@pytest.mark.parametrize("family", MODELS)
def test_a_sentencepiece_model_is_tokenizer_enough(family, tmp_path):
    folder = save(family, tmp_path)
    model = loading.load(checkpoint.find_checkpoint(str(folder)), "cpu")
    tokens = model.tokens
    trained = sentencepiece.SentencePieceProcessor(model_file=str(folder / MODELS[family][1]))
    for word in ("gardener", "old", "mills", "newest"):
        assert tokens.names(tokens.pieces(word)) == trained.encode(word, out_type=str)
    spelled = tokens.encode("the [SEP] </s> <s> cat [CLS] <cls>")
    assert not set(spelled) & set(tokens.special.tolist()) - {tokens.unknown}
    example = encode_words(["the", "old", "gardener"], tokens, 0, "", Skipped())
    assert sorted(set(example.words.tolist()) - {-1}) == [0, 1, 2]
    layers: list[Any] = []
    forward(model, collate([example], tokens, "cpu"), layers.append)
    assert len(layers) == 2


def test_a_tokenizer_without_its_vocabulary_is_refused(tmp_path):
    """transformers would make one of special tokens alone, and read every word as unknown."""
    folder = save("XLMRoberta", tmp_path)
    (folder / "sentencepiece.bpe.model").unlink()
    with pytest.raises(ModelError, match="has no tokenizer"):
        checkpoint.find_checkpoint(str(folder))
    (folder / "vocab.txt").write_text("of another tokenizer")
    with pytest.raises(ModelError, match=r"no vocabulary for its XLMRobertaTokenizer .*sentencepiece.bpe.model"):
        loading.load(checkpoint.find_checkpoint(str(folder)), "cpu")
