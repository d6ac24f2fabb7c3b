"""Classes of transformers 5 take no more than the vocabulary from tokenizer.json: what they do otherwise is said."""

import json
from pathlib import Path

import pytest
from tokenizers import Tokenizer, normalizers, pre_tokenizers

from bertviz_core.errors import ModelError
from bertviz_core.inputs.tokenizer_file import FILE
from bertviz_core.inputs.tokens import Tokens
from bertviz_core.models import checkpoint, loading
from bertviz_core.models.single_input import from_text
from bertviz_core.settings import Settings
from tests.support import families

CASED = {"normalizer": normalizers.BertNormalizer(lowercase=False)}
ACCENTS = {"normalizer": normalizers.BertNormalizer(lowercase=True, strip_accents=False)}
SPLIT = {"pre_tokenizer": pre_tokenizers.WhitespaceSplit()}


def change(folder: Path, kind: str = "", **parts: object) -> Tokenizer:
    """Set parts of a folder's tokenizer.json, and its class; returns what the file says."""
    tokenizer = Tokenizer.from_file(str(folder / FILE))
    for name, part in parts.items():
        setattr(tokenizer, name, part)
    tokenizer.save(str(folder / FILE))
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"tokenizer_class": kind}))
    return tokenizer


def load(folder: Path):
    return loading.load(checkpoint.find_checkpoint(str(folder)), "cpu")


@pytest.mark.parametrize(
    ("parts", "text"),
    [(CASED, "The Cat Sat"), (ACCENTS, "naïve café"), (SPLIT, "3.14")],
    ids=["case", "accent", "split"],
)
def test_pieces_other_than_those_of_the_file_are_shown_with_the_way_out(folder, parts, text):
    written = change(folder, "BertTokenizer", **parts)
    model = load(folder)
    expected = written.encode(text, add_special_tokens=False).tokens
    used = model.tokens.tokenizer.tokenize(text)
    (notice,) = model.notices
    assert used != expected
    assert f"{text!r} becomes {' '.join(used)}, by the file {' '.join(expected)}." in notice
    change(folder, "PreTrainedTokenizerFast")  # as the notice says
    model = load(folder)
    assert model.notices == () and model.tokens.names(model.tokens.encode(text)) == expected


def test_padding_truncation_and_special_tokens_of_a_file_are_no_difference(folder):
    tokenizer = change(folder, "BertTokenizer")
    tokenizer.enable_padding(length=64)
    tokenizer.enable_truncation(2)
    tokenizer.save(str(folder / FILE))
    model = load(folder)
    assert model.notices == () and len(model.tokens.encode("the cat sat on the mat")) == 6


def test_a_file_of_another_kind_than_the_class_is_refused_with_the_way_out(folder):
    change(folder, "XLMRobertaTokenizer")
    with pytest.raises(ModelError, match=r"tokenizer of .* cannot be used") as caught:
        load(folder)
    assert FILE in caught.value.hint and "PreTrainedTokenizerFast" in caught.value.hint


def test_words_that_were_added_to_bytes_are_read_as_written(tmp_path):
    tokenizer = families.roberta_bpe()
    tokenizer.add_tokens(["naïve", "Café"])
    one = from_text("the naïve cat sat, Café", "", Tokens(tokenizer), Settings(max_length=40))
    words = [
        label for label, special in zip(one.layout.words.labels, one.layout.words.special, strict=True) if not special
    ]
    assert words == ["the", "naïve", "cat", "sat", ",", "Café"]


@pytest.mark.parametrize(("lower", "said"), [(None, True), (True, True), (False, False)])
def test_a_vocabulary_with_capital_letters_that_is_lower_cased_is_said(folder, lower, said):
    """Old folders have a vocab.txt alone, and transformers lower-cases unless `do_lower_case` says otherwise."""
    vocabulary = Tokenizer.from_file(str(folder / FILE)).get_vocab()
    capital = {"cat", "dog", "the", "river"}
    names = [name.title() if name in capital else name for name in sorted(vocabulary, key=vocabulary.get)]
    (folder / "vocab.txt").write_text("\n".join(names))
    (folder / FILE).unlink()
    entries = {"tokenizer_class": "BertTokenizer"} | ({} if lower is None else {"do_lower_case": lower})
    (folder / "tokenizer_config.json").write_text(json.dumps(entries))
    found = load(folder).notices
    assert len(found) == said and all("do_lower_case" in each and "pieces of its vocabulary" in each for each in found)


def test_tokens_around_a_text_are_special_also_where_they_are_not_named(folder):
    """As of a tokenizer that was wrapped without the names of its special tokens."""
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"}))
    (folder / "special_tokens_map.json").unlink(missing_ok=True)
    tokens = load(folder).tokens
    assert (tokens.cls, tokens.single, tokens.special.tolist()) == (None, [[2], [3]], [2, 3])
    assert not set(tokens.ordinary) & {2, 3}
    one = from_text("the cat", "the dog", tokens, Settings(max_length=40))
    assert one.layout.words.special.tolist() == [True, False, False, True, False, False, True]
