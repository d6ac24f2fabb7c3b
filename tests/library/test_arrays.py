"""Arrays that others give, as lines and as maps; what the pages hold is compared with the arrays themselves."""

import base64
import json
import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import bertviz_core as bv

ROOT = Path(__file__).parents[2]
TOKENS = ["[CLS]", "the", "cat", "[SEP]"]


def softmax(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.ones(shape[-1]), size=shape[:-1])


def data_of(page: str) -> dict[str, Any]:
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])


def drawn(lines: bv.AttentionLines, head: str) -> np.ndarray:
    """(query, key) weights of a head as its page has them."""
    data = data_of(lines.to_html())
    shape = len(data["input"]["from"]), len(data["input"]["to"])
    return np.frombuffer(base64.b64decode(data["weights"][head]), "<u2").reshape(shape) / 65535


@pytest.mark.parametrize("axes", [2, 3, 4])
def test_the_page_has_the_weights_of_each_shape(axes):
    weights = softmax(2, 3, 4, 4)
    given = weights[(1, 2)[: 4 - axes]]
    lines = bv.attention_lines(TOKENS, given, name="gpt <2>")
    head = {2: "1-1", 3: "1-3", 4: "2-3"}[axes]
    np.testing.assert_allclose(drawn(lines, head), weights[1, 2], atol=1e-4)
    assert len(lines.heads) == given.size / 16 and lines.tokens == tuple(TOKENS)
    assert "<title>Attention of gpt &lt;2&gt;</title>" in lines.to_html()
    assert [unit["special"] for unit in data_of(lines.to_html())["input"]["from"]] == [True, False, False, True]


@pytest.mark.parametrize(
    "given",
    [
        lambda maps: maps.tolist(),
        torch.tensor,
        lambda maps: torch.tensor(maps, dtype=torch.float16, requires_grad=True),
        lambda maps: torch.tensor(maps).to(torch.bfloat16),
        lambda maps: [torch.tensor(layer) for layer in maps],
    ],
)
def test_tensors_and_lists_are_as_numpy_arrays(given):
    weights = softmax(2, 3, 4, 4)
    lines = bv.attention_lines(TOKENS, given(weights), head="2-3")
    np.testing.assert_allclose(lines.weights, weights, atol=4e-3)
    assert lines.head == bv.Head(1, 2) and lines.caption.startswith("Weights from left to right sum to 1.")
    values = weights[:, :, 0, 0]
    np.testing.assert_allclose(bv.head_map(given(values)).values.reshape(2, 3), values, atol=4e-3)


def test_the_attentions_of_a_transformers_model():
    weights = softmax(2, 3, 4, 4)
    attentions = tuple(torch.tensor(layer)[None] for layer in weights)  # (batch, head, query, key) for each layer
    np.testing.assert_allclose(bv.attention_lines(TOKENS, attentions).weights, weights, atol=1e-6)


def test_cross_attention_has_other_keys():
    weights = softmax(2, 3)
    lines = bv.attention_lines(["le", "chat"], weights, keys=["the", "cat", "."])
    data = data_of(lines.to_html())
    assert [unit["label"] for unit in data["input"]["to"]] == ["the", "cat", "."]
    np.testing.assert_allclose(drawn(lines, "1-1"), weights, atol=1e-4)
    assert "later" not in lines.caption


def test_the_caption_says_what_is_unusual():
    causal = np.tril(np.ones((4, 4))) / np.arange(1, 5)[:, None]
    assert bv.attention_lines(TOKENS, causal).caption.startswith(
        "Weights from left to right sum to 1. No token attends to later ones."
    )
    few = softmax(2, 2, 4, 4)
    assert "later" not in bv.attention_lines(TOKENS, few).caption
    few[0, 1, 2] *= 0.25
    few[1, 1, 3] = 0
    assert (
        "The weights of 2 of 16 rows do not sum to 1, but to 0.00 to 0.25." in bv.attention_lines(TOKENS, few).caption
    )
    transposed = bv.attention_lines(TOKENS, softmax(4, 4).T)
    assert "the axes may be (key, query)" in transposed.caption and transposed.caption in transposed.to_html()


def changed(value: float) -> np.ndarray:
    weights = softmax(2, 3, 4, 4)
    weights[1, 2, 1, 2] = value
    return weights


@pytest.mark.parametrize(
    ("tokens", "weights", "message"),
    [
        (TOKENS, changed(np.nan), r"head 2-3, from 'the' \(2\) to 'cat' \(3\): 1 of 96 weights are not finite"),
        (TOKENS, changed(-0.5), r"are negative.* softmax"),
        (TOKENS, changed(7), "are above 1"),
        (TOKENS[1:], softmax(4, 4), "There are 3 tokens, but the weights are from 4 tokens to 4"),
        (TOKENS, softmax(4), r"shape \(4,\)"),
        (TOKENS, softmax(2, 5, 3, 4, 4), "are of 5 inputs"),
        (TOKENS, [[0.5, 0.5], [1.0]], "cannot be read as an array of numbers"),
        (TOKENS, [["a"]], "cannot be read as an array of numbers"),
        (softmax(2, 3, 4, 4), TOKENS, "Tokens come first"),
        ("the cat", softmax(7, 7), "The tokens are a string"),
        ([101, 102], softmax(2, 2), "convert_ids_to_tokens"),
        (None, softmax(2, 2), "not all strings"),
        ([], np.zeros((0, 0)), "no attention"),
    ],
)
def test_what_is_no_attention_is_refused(tokens, weights, message):
    with pytest.raises(bv.BertvizError, match=message):
        bv.attention_lines(tokens, weights)


def test_a_map_has_the_values_and_their_ranks():
    values = np.array([[0.25, np.nan, 2.0], [1.0, 0.0, 0.5]])
    head_map = bv.head_map(values, name="score")
    data = data_of(head_map.to_html())
    assert data["values"] == [0.125, None, 1.0, 0.5, 0.0, 0.25] and (data["layers"], data["heads"]) == (2, 3)
    assert data["hover"][3] == "2-1: score 1.000; rank 2 of 5" and data["limits"] == ["0", "2"]
    assert "1 of 6 heads have no value." in head_map.caption
    values[:] = 0  # of the caller; the map keeps its own
    assert data_of(head_map.to_html()) == data


def test_the_color_scale_of_a_map():
    assert bv.head_map([[-1, 3]]).limits == (-3, 3)
    assert bv.head_map([[-3, -1]]).limits == (-3, 3)
    assert bv.head_map([[True, False]]).limits == (0, 1) and bv.head_map([[0, 0]]).limits == (0, 1)
    chosen = bv.head_map([[0.2, 0.9]], limits=(0, 0.5))
    assert data_of(chosen.to_html())["values"] == [0.4, 1.0] and "1 values lie outside" in chosen.caption


@pytest.mark.parametrize(
    ("values", "limits", "message"),
    [
        ([0.1, 0.2], None, r"shape \(2,\) are no map"),
        ([[np.nan]], None, "No head has a value"),
        ([[1, np.inf]], None, "head 1-2: 1 values are infinite"),
        ([["high"]], None, "array of numbers"),
        ([[1]], (1, 1), "no interval"),
    ],
)
def test_what_is_no_map_is_refused(values, limits, message):
    with pytest.raises(bv.BertvizError, match=message):
        bv.head_map(values, limits=limits)


def test_what_is_masked_is_missing():
    masked = np.ma.masked_array([[0.1, 0.9], [0.3, 0.2]], mask=[[False, True], [False, False]])
    shown = bv.head_map(masked)
    np.testing.assert_array_equal(shown.values, [[0.1, np.nan], [0.3, 0.2]])
    assert "1 of 4 heads have no value" in shown.caption
    assert "1-2: no value" in shown._repr_html_() and "1-1: value 0.100; rank 3 of 3" in shown._repr_html_()
    whole = np.ma.masked_array([[1, 2]], mask=[[True, False]])
    np.testing.assert_array_equal(bv.head_map(whole).values, [[np.nan, 2]])
    with pytest.raises(bv.BertvizError, match="not finite"):
        bv.attention_lines(["a", "b"], np.ma.masked_array(np.full((2, 2), 0.5), mask=np.eye(2)))


def test_tensors_of_every_kind_and_what_models_return_in_place_of_weights():
    import torch
    from transformers.modeling_outputs import BaseModelOutput

    half = torch.full((1, 2, 2), 0.5)
    for tensor in (
        torch.nested.nested_tensor([half[0], half[0]], requires_grad=True),
        torch.nested.nested_tensor([half[0], half[0]], dtype=torch.bfloat16),
        [[half[0].bfloat16()], [half[0].bfloat16().requires_grad_()]],
    ):
        assert bv.attention_lines(["a", "b"], tensor).weights.sum() == 4
    generated = ((half, half), (half[:, :1], half[:, :1]))
    for wrong, message in (
        (torch.empty(2, 2, device="meta"), "holds no numbers"),
        ((None, None), "attn_implementation"),
        ((), "attn_implementation"),
        (None, "output_attentions=True"),
        (BaseModelOutput(attentions=(half,)), "Give its `attentions`"),
        (generated, "each step of `generate`"),
    ):
        with pytest.raises(bv.BertvizError, match=message):
            bv.attention_lines(["a", "b"], wrong)


def test_hostile_labels_stay_text():
    label = '</script><script>alert("x")</script>'
    for shown in (bv.attention_lines([label], [[1.0]], name=label), bv.head_map([[1.0]], name=label)):
        page = shown.to_html()
        assert page.count("</script>") == 2 and "alert(" not in page.replace("\\u003ealert(", "").replace(
            "&gt;alert(", ""
        )
        frame = shown._repr_html_()
        assert shown._mime_() == ("text/html", frame) and 'sandbox="allow-scripts allow-downloads"' in frame
        assert frame.count("<") == 2 and unescape(re.search('srcdoc="(.*?)"', frame, re.S)[1]) == page


def test_files(tmp_path):
    pytest.importorskip("kaleido")
    lines, head_map = bv.attention_lines(TOKENS, softmax(4, 4)), bv.head_map([[0.1, 0.9]], name="UAS")
    for shown in (lines, head_map):
        assert shown.to_html(tmp_path / "x.html") == (tmp_path / "x.html").read_text("utf-8")
    assert "UAS" in head_map.to_svg(tmp_path / "map.svg") and (tmp_path / "map.svg").stat().st_size > 1000
    assert ">cat<" in lines.to_svg(tmp_path / "lines.svg").replace(" ", "")


def test_neither_needs_torch():
    code = (
        "import sys, bertviz_core as bv; bv.attention_lines(['a'], [[1.0]])._repr_html_();"
        "bv.head_map([[1.0]])._repr_html_(); assert not {'torch', 'transformers'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_a_notebook_shows_both(tmp_path, monkeypatch):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    sources = ['import bertviz_core as bv\nbv.head_map([[0.1, 0.9]], name="UAS")', "bv.attention_lines(['a'], [[1.0]])"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    place = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources=place).execute()
    for cell in notebook.cells:
        (output,) = cell.outputs
        assert output.output_type == "execute_result" and "<iframe srcdoc=" in output.data["text/html"]
