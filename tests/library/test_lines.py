import base64
import json
import re
import shutil
from html import unescape

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

import bertviz_core as bv

HOSTILE = 'She said </script><script>alert("x")</script> & <!-- \u2028 \u2029 ]]> "quoted\' text.'


def data_of(page: str) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])


def test_weights_are_those_of_the_model(tiny_folder):
    lines = bv.attention(tiny_folder, "the cat sat", dtype="float32")
    model = AutoModel.from_pretrained(tiny_folder, attn_implementation="eager").eval()
    tokenizer = AutoTokenizer.from_pretrained(tiny_folder)
    with torch.no_grad():
        maps = model(**tokenizer("the cat sat", return_tensors="pt"), output_attentions=True).attentions
    np.testing.assert_allclose(lines.weights, np.stack([one[0].numpy() for one in maps]), atol=1e-6)
    assert lines.tokens == ("[CLS]", "the", "cat", "sat", "[SEP]")


def test_a_model_in_memory_and_words(tiny_folder):
    pair = AutoModel.from_pretrained(tiny_folder).train(), AutoTokenizer.from_pretrained(tiny_folder)
    lines = bv.attention(pair, ["unhappily", "cat"], special=False, words=True)
    assert lines.tokens == ("unhappily", "cat") and pair[0].training
    np.testing.assert_allclose(lines.weights.sum(-1), 1, atol=1e-5)


def test_the_page_holds_every_head_asked_for(tiny_folder, tmp_path):
    lines = bv.attention(tiny_folder, "the cat sat", head="2-1")
    page = lines.to_html(tmp_path / "lines.html")
    assert (tmp_path / "lines.html").read_text("utf-8") == page
    data = data_of(page)
    assert data["head"] == "2-1" and list(data["weights"]) == [head.label() for head in lines.heads]
    packed = np.frombuffer(base64.b64decode(data["weights"]["2-1"]), "<u2").reshape(5, 5) / 65535
    np.testing.assert_allclose(packed, lines.weights[1, 0], atol=1e-4)
    few = bv.attention(tiny_folder, "the cat sat", heads=["1-2"])
    assert data_of(few.to_html())["weights"].keys() == {"1-2"} and few.head == bv.Head(0, 1)
    with pytest.raises(bv.BertvizError, match="no head 3-1"):
        bv.attention(tiny_folder, "the cat sat", head="3-1")


def test_hostile_text_stays_text():
    lines = bv.attention("demo", HOSTILE)
    page = lines.to_html()
    assert page.count("</script>") == 2 and "alert" not in page.replace('"label": "alert"', "")
    assert not re.search("[\u2028\u2029]", page)
    assert [unit["label"] for unit in data_of(page)["input"]["from"]] == list(lines.tokens)
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "") and "https://" not in page
    frame = lines._repr_html_()
    assert frame.count("<") == 2  # the frame's own two tags
    assert unescape(re.search('srcdoc="(.*?)"', frame, re.S)[1]) == page


def test_a_page_that_would_be_too_large_is_refused_and_a_text_cut(tiny_folder, monkeypatch):
    lines = bv.attention(tiny_folder, "the cat " * 20, max_length=10)
    assert len(lines.tokens) == 10 and "32 tokens at the end did not fit" in lines.caption
    monkeypatch.setattr("bertviz_core.viewer.files.MAX_BYTES", 100)
    with pytest.raises(bv.BertvizError, match="Name fewer heads"):
        bv.attention(tiny_folder, "the cat sat").to_html()


def test_special_tokens_that_a_text_spells_and_what_is_not_used_are_said(tiny_folder, tmp_path):
    assert "spells out" not in bv.attention(tiny_folder, "the cat sat").caption
    assert "spells out are read as letters (2 here)" in bv.attention(tiny_folder, "[CLS] the cat [MASK]").caption
    folder = tmp_path / "model"
    shutil.copytree(tiny_folder, folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"talking_heads_attention": True}))
    assert "talking_heads_attention" in bv.attention(folder, "the cat sat").caption
