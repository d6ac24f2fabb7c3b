"""A model to which two texts are one, as every decoder's, gets them with the beginning of its tokenizer once."""

import json
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import processors

from bertviz_core.analyses.base import request as request_module
from bertviz_core.analyses.base.request import Request, is_current, key_version
from bertviz_core.corpora.source import Source, from_bytes
from bertviz_core.errors import ModelError
from bertviz_core.inputs.encoding import Encoded, collate
from bertviz_core.inputs.labels import layout_of
from bertviz_core.inputs.segments import RandomSequences, Segments
from bertviz_core.inputs.tokens import Tokens
from bertviz_core.models.checkpoint import Checkpoint, find_checkpoint
from bertviz_core.models.configuration import reads_one_text
from bertviz_core.models.families import ENCODERS
from bertviz_core.models.loading import load, load_tokens
from bertviz_core.models.loss import Targets
from bertviz_core.models.single_input import from_text
from bertviz_core.settings import Settings
from tests.support import families
from tests.support.architectures import ARCHITECTURES, REFUSED, family_of

DECODERS = [name for name, row in ARCHITECTURES.items() if row.way != REFUSED and name not in ENCODERS]
TEMPLATES = {  # what a decoder's tokenizer puts around one text and around two
    "BOS before each": ("<s> $A", "<s> $A <s> $B"),
    "BOS before one": ("<s> $A", "<s> $A $B:1"),
    "BOS and EOS": ("<s> $A </s>", "<s> $A </s> <s> $B </s>"),
    "none": None,
}
LINES = [*families.TEXT, "the dog slept near the door .", "A river runs ."]
TEXT = "\n".join([*LINES[:3], "", *LINES[3:]])


def decoder_tokenizer(template: str) -> Any:
    tokenizer = families.bos_bpe()
    around = TEMPLATES[template]
    backend = tokenizer.backend_tokenizer
    if around is None:
        backend.post_processor = processors.ByteLevel(trim_offsets=False)
    else:
        single, pair = around
        backend.post_processor = processors.TemplateProcessing(
            single=single, pair=pair, special_tokens=[("<s>", 0), ("</s>", 1)]
        )
    return families.fast(backend, bos_token="<s>", eos_token="</s>", pad_token="<pad>")


@pytest.fixture(scope="module", params=TEMPLATES)
def template(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def tokens(template: str) -> Tokens:
    return Tokens(decoder_tokenizer(template), one_text=True)


def as_transformers(tokens: Tokens, text: str, length: int = 1000) -> list[int]:
    """The ids that transformers' tokenizer gives to a text alone."""
    return tokens.tokenizer(text, truncation=True, max_length=length)["input_ids"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return families.save(families.FAMILIES["llama"], tmp_path_factory.mktemp("llama"))


@pytest.mark.parametrize("family", DECODERS)
@pytest.mark.parametrize("kind", TEMPLATES)
def test_every_family_of_decoders_reads_a_passage_as_one_text(family: str, kind: str, folder: Path, tmp_path: Path):
    """The tokenizer of a folder with the family's configuration; no weight is read."""
    from transformers import CONFIG_MAPPING

    for file in folder.glob("*.safetensors"):
        (tmp_path / file.name).symlink_to(file)
    decoder_tokenizer(kind).save_pretrained(tmp_path)
    small = family_of(family)
    config = CONFIG_MAPPING[family](**small.sizes).to_dict() | {"model_type": family}
    checkpoint = Checkpoint(family, tmp_path, config=config)
    (tmp_path / "config.json").write_text(json.dumps(config, default=str))
    tokens = load_tokens(checkpoint)
    assert checkpoint.reads_one_text and tokens.one_text
    passages = list(Segments(from_bytes(TEXT.encode(), "x.txt"), tokens, Settings(max_length=60)))
    assert [passage.ids.tolist() for passage in passages] == expected_passages(tokens, 60)


def expected_passages(tokens: Tokens, length: int) -> list[list[int]]:
    """Lines until a passage is full, as one text that transformers' tokenizer cuts; written for the lines of TEXT."""
    room = length - len(as_transformers(tokens, ""))
    found = []
    for document in (LINES[:3], LINES[3:]):
        chunk: list[str] = []
        for line in document:
            if sum(len(tokens.encode(each)) for each in chunk) >= room:
                found.append(chunk)
                chunk = []
            chunk = [*chunk, line]
        found.append(chunk)
    return [as_transformers(tokens, "\n".join(chunk), length) for chunk in found]


def test_a_passage_begins_and_ends_once(tokens: Tokens, template: str):
    """Worked by hand: with room for 60 tokens the lines of the first document are two passages."""
    begins, ends = tokens.single
    for passage in Segments(from_bytes(TEXT.encode(), "x.txt"), tokens, Settings(max_length=60)):
        ids = passage.ids.tolist()
        assert ids[: len(begins)] == begins and ids[len(ids) - len(ends) :] == ends
        assert sum(i in tokens.special for i in ids) == len(begins) + len(ends)
        assert not passage.types.any() and len(ids) <= 60


def test_sentences_of_a_treebank_are_joined_by_a_space(tokens: Tokens):
    rows = "1\tthe\t_\tDET\t_\t_\t2\tdet\t_\t_\n2\tcat\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n"
    (passage,) = Segments(from_bytes((rows * 2).encode(), "x.conllu"), tokens, Settings())
    assert passage.ids.tolist() == as_transformers(tokens, "the cat the cat")


def test_the_second_text_of_the_viewer_is_the_second_line(tokens: Tokens):
    one = from_text("the cat sat", "the dog slept", tokens, Settings())
    assert one.example.ids.tolist() == as_transformers(tokens, "the cat sat\nthe dog slept")
    assert not one.layout.two_sides and not one.example.types.any()
    cut = from_text("the cat sat", "the dog slept", tokens, Settings(max_length=8))
    assert cut.example.ids.tolist() == as_transformers(tokens, "the cat sat\nthe dog slept", 8)
    assert cut.cut == len(one.example) - 8
    words = from_text("the cat", "the dog", tokens, Settings(), pre_split=True)
    inside = [
        label
        for label, special in zip(words.layout.words.labels, words.layout.words.special, strict=True)
        if not special
    ]
    assert inside == ["the", "cat", "the", "dog"]
    assert sum(words.layout.tokens.special) == sum(map(len, tokens.single))


def test_records_and_repeated_sequences_begin_once(tokens: Tokens):
    records: list[dict[str, Any]] = [{"text": "the cat sat on the mat"}, {"words": ["the", "cat"]}]
    source = from_bytes(json.dumps(records).encode(), "x.json")
    text, words = Segments(source, tokens, Settings())
    assert text.ids.tolist() == as_transformers(tokens, "the cat sat on the mat")
    around = [*chain(*tokens.single)]
    sequences = RandomSequences(source, tokens, Settings(max_length=30, limit=4))
    for example in (words, *sequences):
        assert [int(i) for i in example.ids if i in tokens.special] == around


def test_a_special_token_in_the_middle_is_special_everywhere():
    """`<s> the <s> c` as tokens: the second <s> is no ordinary token, and no word."""
    tokens = Tokens(decoder_tokenizer("BOS before each"), one_text=True)
    names = ["<s>", "Ġthe", "<s>", "c"]
    (example,) = Segments(from_bytes(json.dumps([{"tokens": names}]).encode(), "x.json"), tokens, Settings())
    batch = collate([example], tokens, "cpu")
    assert batch.special[0].tolist() == [True, False, True, False]
    assert batch.ordinary[0].tolist() == [False, True, False, True]
    assert layout_of(example, tokens).tokens.special.tolist() == [True, False, True, False]


def test_the_end_of_a_text_that_is_the_unknown_token_too_is_special_unless_it_stands_for_a_word():
    """GPT-2 has one token for both: between two texts it is special; for a word that cleans to nothing it is a word."""
    tokens = Tokens(families.gpt2_bpe(), one_text=True)
    ids = np.array([*tokens.encode("the"), tokens.unk, *tokens.encode("cat")])
    example = Encoded(0, "", ids, np.zeros_like(ids))
    assert layout_of(example, tokens).tokens.special.tolist() == (ids == tokens.unk).tolist()
    word = Encoded(0, "", ids, np.zeros_like(ids), np.arange(len(ids)))
    assert not layout_of(word, tokens).tokens.special.any()
    assert not collate([word], tokens, "cpu").special.any()


def test_unknown_and_masked_words_are_words_of_an_encoder():
    tokens = Tokens(families.wordpiece())
    ids = np.array([tokens.cls, tokens.unk, tokens.mask, tokens.sep])
    assert collate([Encoded(0, "", ids, ids * 0)], tokens, "cpu").special[0].tolist() == [True, False, False, True]


@pytest.mark.parametrize("make", [families.wordpiece, families.bos_bpe])
def test_added_tokens_are_in_no_draw(make: Any):
    """They may be untrained, as `<unused54>` of Gemma: neither sequences nor replacements of masked words have them."""
    tokenizer = make()
    before = Tokens(tokenizer).ordinary.tolist()
    tokenizer.add_tokens([f"<unused{number}>" for number in range(300)])
    tokens = Tokens(tokenizer)
    assert tokens.ordinary.tolist() == before
    added = set(tokenizer.convert_tokens_to_ids([f"<unused{number}>" for number in range(300)]))
    source = from_bytes(b"the cat", "x.txt")
    drawn = {int(i) for example in RandomSequences(source, tokens, Settings(limit=20)) for i in example.ids}
    if tokens.mask is not None:
        targets = Targets(tokens, seed=0)
        ids = np.array(before[:40] * 10)
        for number in range(20):
            drawn |= set(targets.apply(Encoded(number, "", ids, ids * 0))[0].tolist())
    assert len(drawn) > 50 and not drawn & added


def test_a_vocabulary_of_added_tokens_alone_is_drawn_from():
    from tokenizers import Tokenizer, models

    tokenizer = families.fast(Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]")), unk_token="[UNK]")
    tokenizer.add_tokens(["a", "b", "c"])
    assert len(Tokens(tokenizer).ordinary) == 3


def test_encoders_are_the_families_of_transformers_that_predict_masked_words():
    """Those of pairs of encoder and decoder are refused, or decoders; T5Gemma begins each text as Gemma does."""
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_MASKED_LM_MAPPING_NAMES,
        MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES,
    )

    pairs = {"bart", "mbart", "mvp", "t5gemma"}
    decoders = {"clip_text_model", "emu3", "llama4", "mllama", "molmo2_text", "tipsv2_text_model"}
    known = {*MODEL_FOR_MASKED_LM_MAPPING_NAMES, *MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES}
    assert known - pairs - decoders <= {*ENCODERS}


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"model_type": "bert", "architectures": ["BertForMaskedLM"]}, False),
        ({"model_type": "bert", "is_decoder": True}, True),
        ({"model_type": "gpt2", "architectures": ["GPT2Model"]}, True),
        ({"model_type": "llama", "architectures": ["LlamaForSequenceClassification"]}, True),
        ({"model_type": "xlnet", "architectures": ["XLNetLMHeadModel"]}, False),
        ({"model_type": "new-encoder", "architectures": ["NewEncoderForMaskedLM"]}, False),
        ({"model_type": "t5", "is_decoder": False}, False),
    ],
)
def test_the_configuration_tells_whether_two_texts_are_one(config: dict[str, Any], expected: bool):
    assert reads_one_text(config) is expected


def test_an_encoder_whose_tokens_see_earlier_ones_only_is_refused(folder: Path, monkeypatch):
    """It would get pairs that no decoder is trained on."""
    monkeypatch.setattr(Checkpoint, "reads_one_text", False)
    with pytest.raises(ModelError, match="attend to earlier ones only") as refused:
        load(find_checkpoint(str(folder)), "cpu")
    assert "is_decoder" in str(refused.value.hint)


@pytest.fixture
def source() -> Source:
    return from_bytes(b"the cat", "x.txt")


def test_results_of_decoders_alone_have_another_key(source: Source, monkeypatch):
    """Those that were stored of pairs are computed anew; those of encoders stay."""
    decoder = Checkpoint("d", Path(), config={"model_type": "llama"}, digest="d" * 64)
    encoder = Checkpoint("e", Path(), config={"model_type": "bert"}, digest="e" * 64)
    keys = [Request("entropy", model, source).key() for model in (decoder, encoder)]
    monkeypatch.setattr(request_module, "ONE_TEXT", request_module.ONE_TEXT + 1)
    again = [Request("entropy", model, source).key() for model in (decoder, encoder)]
    assert again[0] != keys[0] and again[1] == keys[1]


def test_a_stored_result_of_a_decoder_from_pairs_is_not_current():
    pairs, one = (key_version("entropy", one_text=one_text) for one_text in (False, True))
    assert one[:-1] == pairs
    current = [
        is_current("entropy", {"key_version": version, "model": {"causal": causal}})
        for version, causal in ((pairs, False), (one, True), (one, False), (pairs, True))
    ]
    assert current == [True, True, True, False]
