import numpy as np
import pytest
import torch

from bertviz_core.corpora.files import sample
from bertviz_core.corpora.source import from_bytes
from bertviz_core.corpora.word_search import search
from bertviz_core.errors import InputError
from bertviz_core.inputs.encoding import Encoded
from bertviz_core.inputs.labels import layout_of
from bertviz_core.inputs.segments import FirstSegments, Segments
from bertviz_core.inputs.tokens import Tokens
from bertviz_core.models import checkpoint
from bertviz_core.models.loading import load_to_view
from bertviz_core.models.single_input import from_text, mask, predict
from bertviz_core.settings import Settings
from tests.support.families import FAMILIES

SHORT = Settings(max_length=16)


def test_a_text_and_a_pair_are_framed_and_pieces_make_words(tiny):
    one = from_text("The unhappily cat.", "", tiny.tokens, Settings())
    assert one.layout.tokens.labels[0] == "[CLS]"
    assert one.layout.words.labels == ("[CLS]", "the", "unhappily", "cat", ".", "[SEP]")
    assert one.layout.words.special.tolist() == [True, False, False, False, False, True]
    assert not one.layout.two_sides
    split = from_text("zq cat", "", tiny.tokens, Settings())
    assert split.layout.tokens.labels == ("[CLS]", "z", "##q", "cat", "[SEP]")
    assert split.layout.owner.tolist() == [0, 1, 1, 2, 3]
    assert split.layout.words.start.tolist() == [0, 1, 3, 4]
    one = from_text("the cat", "the dog", tiny.tokens, Settings())
    assert one.layout.tokens.labels == ("[CLS]", "the", "cat", "[SEP]", "the", "dog", "[SEP]")
    assert one.example.types.tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert one.layout.tokens.side.tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert one.layout.two_sides
    paper = from_text("the cat", "the dog", tiny.tokens, Settings(mode="paper"))
    assert not paper.example.types.any()
    assert paper.layout.tokens.side.tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert paper.digest() != one.digest()


def test_given_words_stay_as_written(tiny):
    given = from_text("The 花 cat", "", tiny.tokens, Settings(), pre_split=True)
    assert given.layout.tokens.labels[2] == "[UNK]" and given.layout.words.labels[2] == "花"
    one = from_text("Cat's \x07 zq!", "THE", tiny.tokens, Settings(), pre_split=True)
    assert one.layout.words.labels == ("[CLS]", "Cat's", "␇", "zq!", "[SEP]", "THE", "[SEP]")
    assert one.layout.tokens.labels[1:5] == ("cat", "'", "s", "[UNK]")
    assert one.layout.owner.tolist() == [0, 1, 1, 1, 2, 3, 3, 3, 4, 5, 6]


def test_a_token_for_what_the_vocabulary_lacks_is_explained_where_it_stands(tiny):
    lacking, known = (from_text(text, "", tiny.tokens, Settings()) for text in ("The 花 cat", "The cat"))
    assert lacking.notices(tiny) == ["[UNK]: what the model's vocabulary lacks."] and not known.notices(tiny)


def test_what_is_too_long_loses_the_end_of_its_longer_side(tiny):
    one = from_text("cat " * 40, "the dog", tiny.tokens, SHORT)
    assert len(one.example) == 16
    assert one.cut == 40 + 2 + 3 - 16
    assert one.layout.tokens.labels[-3:] == ("the", "dog", "[SEP]")
    given = from_text("cat " * 40, "", tiny.tokens, SHORT, pre_split=True)
    assert (len(given.layout.words), given.cut) == (16, 26)


def test_a_space_of_its_own_belongs_to_the_word_after_it():
    tokens = Tokens(FAMILIES["xlnet"].tokenizer())
    names = ["▁", "c", "at", "▁", ",", "▁the", "."]
    ids = np.array(tokens.tokenizer.convert_tokens_to_ids(names))
    layout = layout_of(Encoded(0, "", ids, np.zeros(7, dtype=np.int64)), tokens)
    assert layout.owner.tolist()[3:] == [n + layout.owner[2] + 1 for n in (0, 0, 1, 2)]
    assert layout.owner[:2].tolist() == [0, 0]


@pytest.mark.parametrize("family", ["roberta", "gpt2", "xlnet"])
@pytest.mark.parametrize(
    "text", ["naïve façade", "ภาษาไทย", "Öl für Bücher", "كتاب جديد", "去 学校", "ice 👩‍👩‍👧 cream ❤️ 👍🏽"]
)
def test_words_hold_whole_characters_in_any_script(family, text):
    """Byte-level BPE cuts inside the characters of scripts that it has not learned."""
    layout = from_text(text, "", Tokens(FAMILIES[family].tokenizer()), Settings()).layout
    words = [w for w, special in zip(layout.words.labels, layout.words.special, strict=True) if not special]
    assert len(words) == len(text.split())
    if family != "xlnet":  # which has no piece for most of them
        assert words == text.split()


def test_bytes_that_are_no_whole_character_are_hexadecimal_and_a_space_is_seen():
    one = from_text("a 東", "", Tokens(FAMILIES["roberta"].tokenizer()), Settings())
    assert one.layout.tokens.labels == ("<s>", "a", "␣", "<0xE6>", "<0x9D>", "<0xB1>", "</s>")


def test_masked_tokens_change_labels_and_nothing_else(tiny):
    one = from_text("the zq sat", "", tiny.tokens, Settings())
    whole = mask(one, [2, 3], tiny.tokens)
    assert whole.layout.tokens.labels == ("[CLS]", "the", "[MASK]", "[MASK]", "sat", "[SEP]")
    assert whole.layout.words.labels == ("[CLS]", "the", "[MASK]", "sat", "[SEP]")
    assert whole.layout.owner is one.layout.owner
    assert mask(one, [2], tiny.tokens).layout.words.labels[2] == "[MASK]q"
    assert one.layout.tokens.labels[2] == "z"
    assert (np.flatnonzero(one.example.ids != whole.example.ids) == [2, 3]).all()
    for position in (0, 5, 6, -1):  # special tokens, and places outside
        with pytest.raises(InputError, match="has no token that this model can mask"):
            mask(one, [position], tiny.tokens)


def test_segments_are_picked_by_number_which_they_keep_where_others_are_left_out(tiny, source):
    segments = FirstSegments(Segments(source("the cat .\n\nthe dog .\n"), tiny.tokens, Settings(max_length=32)))
    assert layout_of(segments.pick(2), tiny.tokens).words.labels == ("[CLS]", "the", "dog", ".", "[SEP]")
    for number in (0, 3):
        with pytest.raises(InputError, match=f"no passage {number}") as refused:
            segments.pick(number)
        assert "1 to 2" in refused.value.hint
    given = source('[{"text": "the cat"}, {"text": ""}, {"text": "the dog"}]', "given.json")
    segments = FirstSegments(Segments(given, tiny.tokens, Settings(max_length=32)))
    assert layout_of(segments.pick(3), tiny.tokens).words.labels[2] == "dog"
    with pytest.raises(InputError, match="skipped"):
        segments.pick(2)


@pytest.mark.parametrize("name", ["encyclopedia", "treebank", "coreference"])
def test_a_line_that_was_searched_is_in_its_segment(name: str, demo) -> None:
    source = sample(name)
    segments = FirstSegments(Segments(source, demo.tokens, Settings(max_length=400)))
    total, hits = search(source, "the", 0, 400)
    assert total > 20
    for hit in hits[::12]:
        ids = segments.pick(segments.number_of(hit)).ids.tolist()
        wanted = demo.tokens.encode(" ".join((hit.match + hit.after).split()[:4]))
        assert any(ids[at : at + len(wanted)] == wanted for at in range(len(ids)))


def test_a_line_or_object_that_was_searched_opens_no_other_segment(demo):
    source = from_bytes(b"A cat sat .\nIt slept .\n\nA lonely dog .\n\nThe cat ran .\nIt hid .\n\n", "a.txt")
    (hit,) = search(source, "dog", 0, 5)[1]
    paper, corrected = (Segments(source, demo.tokens, Settings(mode=mode)) for mode in ("paper", "corrected"))
    assert FirstSegments(corrected).number_of(hit) == 2
    with pytest.raises(InputError, match="No passage has line 4"):
        FirstSegments(paper).number_of(hit)
    source = from_bytes(b'[{"text": "A dog."}, {"text": ""}, {"words": ["The", "cat"]}]', "a.json")
    segments = FirstSegments(Segments(source, demo.tokens, Settings()))
    (hit,) = search(source, "cat", 0, 5)[1]
    assert segments.number_of(hit) == 3
    assert "cat" in demo.tokens.names(segments.pick(3).ids)


@pytest.fixture(scope="module")
def predicting(masked_folder):
    """The tiny BERT with an MLM head."""
    return load_to_view(checkpoint.find_checkpoint(str(masked_folder)), "cpu")


def test_predictions_are_the_softmax_of_the_masked_word_head_or_none(predicting, tiny, tiny_folder):
    one = from_text("the cat sat on the mat", "", predicting.tokens, Settings())
    masked = mask(one, [2, 6], predicting.tokens)
    (first, second) = predict(predicting, one, masked)
    assert (first.position, first.original, second.original) == (2, "cat", "mat")
    ids = torch.tensor(masked.example.ids)[None]
    with torch.inference_mode():
        logits = predicting.language_model(input_ids=ids).logits[0, 2].double().tolist()
    total = sum(np.exp(value) for value in logits)
    shares = {predicting.tokens.names([i])[0]: float(np.exp(value) / total) for i, value in enumerate(logits)}
    ranked = sorted(shares, key=lambda name: -shares[name])
    assert [label for label, _ in first.best] == ranked[:5]
    assert [share for _, share in first.best] == pytest.approx([shares[name] for name in ranked[:5]], rel=1e-4)
    assert first.rank == ranked.index("cat") + 1
    assert first.probability == pytest.approx(shares["cat"], rel=1e-4)
    assert predict(tiny, one, masked) == ()
    assert load_to_view(checkpoint.find_checkpoint(str(tiny_folder)), "cpu").language_model is None


def test_predictions_without_heads_equal_hooks_on_their_outputs(predicting):
    one = from_text("the cat sat on the mat", "", predicting.tokens, Settings())
    masked = mask(one, [2], predicting.tokens)
    off = np.array([[True, False], [False, True]])

    def zeros(layer):
        def hook(_module, given):
            parts = given[0].clone().unflatten(-1, (2, -1))
            parts[..., torch.from_numpy(off[layer]), :] = 0
            return (parts.flatten(-2),)

        return hook

    found = predict(predicting, one, masked, off)
    outputs = [predicting.encoder.encoder.layer[layer].attention.output.dense for layer in range(2)]
    handles = [output.register_forward_pre_hook(zeros(layer)) for layer, output in enumerate(outputs)]
    (expected,) = predict(predicting, one, masked)
    for handle in handles:
        handle.remove()
    assert found[0].probability == pytest.approx(expected.probability, rel=1e-5)
    assert found[0].best[0][0] == expected.best[0][0]
    assert predict(predicting, one, masked)[0].probability != pytest.approx(expected.probability, rel=1e-3)
