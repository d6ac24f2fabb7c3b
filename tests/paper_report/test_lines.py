"""Figures 1 and 5 of a report: which heads and sentences they show, their weights, and when they are computed."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.found_heads import FoundHead, MarkedInput
from bertviz_core.corpora.source import from_bytes
from bertviz_core.engine.store import Store
from bertviz_core.heads import Head
from bertviz_core.models.checkpoint import find_checkpoint
from bertviz_core.models.loading import load
from bertviz_core.paper_report import lines as lines_module
from bertviz_core.paper_report.lines import MAX_DRAWN_WORDS, lines_of
from bertviz_core.paper_report.report import ReportRequest
from bertviz_core.settings import Execution, Settings

TEXT = "the cat sat on the mat . it slept .\nthe dog ran to the river , and back .\n\na cat and a dog sat there .\n"
TREES = (
    "the|2|det cat|3|nsubj sat|0|root on|6|case the|6|det mat|3|obl",
    "a|2|det dog|3|nsubj slept|0|root near|6|case the|6|det river|3|obl",
)
CHAINS = (
    "#begin document (a); part 000\na 0 0 Anna NNP - - - - - * (1)\na 0 1 sat VBD - - - - - * -\n"
    "a 0 2 and CC - - - - - * -\na 0 3 she PRP - - - - - * (1)\na 0 4 slept VBD - - - - - * -\n\n#end document\n"
)


def treebank() -> bytes:
    rows = [[word.split("|") for word in sentence.split()] for sentence in TREES]
    lines = ["".join(f"{i}\t{w}\t_\tX\t_\t_\t{g}\t{r}\t_\t_\n" for i, (w, g, r) in enumerate(row, 1)) for row in rows]
    return "\n".join(lines).encode() + b"\n"


@pytest.fixture(scope="module")
def planted_report(planted_folder, tmp_path_factory):
    corpora = {
        "text": from_bytes(TEXT.encode(), "t.txt"),
        "treebank": from_bytes(treebank(), "t.conllu"),
        "coreference": from_bytes(CHAINS.encode(), "t.conll"),
    }
    request = ReportRequest(find_checkpoint(str(planted_folder)), corpora, Settings(max_length=32), max_cost=3)
    store = Store(tmp_path_factory.mktemp("lines"), shipped=tmp_path_factory.mktemp("none"))
    request.compute(store, Execution("cpu"))
    return request, store


def test_figure_1_has_the_planted_heads_on_sentences_of_the_corpus(planted_report):
    request, store = planted_report
    lines = {one.title.partition(":")[2].split(",")[0].strip(): one for one in request.read(store).lines}
    planted = {"previous token": "1-1", "next token": "2-1", "[SEP]": "2-2", "broad attention": "1-2"}
    for behavior, label in planted.items():
        one = lines[behavior]
        assert one.figure == 1 and one.title.startswith(f"{label}:")
        inside = one.labels[1:-1]
        assert one.labels == ["[CLS]", *inside, "[SEP]"] and one.special == [True, *[False] * len(inside), True]
        assert " ".join(inside) in TEXT.replace("\n", " ")
        assert len(inside) <= MAX_DRAWN_WORDS
        assert one.weights.sum(1) == pytest.approx(1, abs=1e-4)
    assert (lines["previous token"].weights.argmax(1)[1:] == np.arange(len(lines["previous token"].labels) - 1)).all()
    assert (lines["[SEP]"].weights.argmax(1) == len(lines["[SEP]"].labels) - 1).all()


def test_weights_are_those_of_the_whole_model_on_the_sentence_alone(planted_report, planted_folder):
    from transformers import AutoModel, AutoTokenizer

    request, store = planted_report
    tokenizer = AutoTokenizer.from_pretrained(planted_folder)
    model = AutoModel.from_pretrained(planted_folder, attn_implementation="eager").eval()
    for one in (one for one in request.read(store).lines if one.figure == 1):
        ids = torch.tensor([tokenizer.convert_tokens_to_ids(one.labels)])
        head = Head.parse(one.title.partition(":")[0])
        with torch.no_grad():
            maps = model(ids, output_attentions=True).attentions[head.layer][0, head.head]
        assert one.weights == pytest.approx(maps.numpy(), abs=1e-5)


def test_figure_5_marks_the_words_of_the_relation_and_the_mention(planted_report):
    request, store = planted_report
    drawn = [one for one in request.read(store).lines if one.figure == 5]
    relations = {word: relation for row in TREES for word, _, relation in (each.split("|") for each in row.split())}
    for one in drawn[:-1]:
        relation = one.title.partition(": ")[2].split(",")[0]
        ud = {"prep": "case", "pobj": "obl", "dobj": "obj"}.get(relation, relation)  # function heads are renamed
        assert one.red, one.title
        assert all(relations[one.labels[row]] in (relation, ud) for row in one.red if ud == relation)
    mention = drawn[-1]
    assert "antecedents" in mention.title
    assert [mention.labels[row] for row in mention.red] == ["she"] and not mention.red_keys


def test_sentences_of_more_tokens_than_the_model_has_positions_are_passed_over(planted_report, planted_folder):
    request, store = planted_report
    results, model = request.read(store).results, load(find_checkpoint(str(planted_folder)), "cpu")
    assert [one.figure for one in lines_of(results, model, False)].count(5) == 1
    short = {name: replace(result, provenance=with_length(result.provenance, 5)) for name, result in results.items()}
    assert {one.figure for one in lines_of(short, model, False)} == {1}


def with_length(provenance: dict, tokens: int) -> dict:
    return provenance | {"settings": provenance["settings"] | {"max_length": tokens}}


def test_they_are_computed_once_and_again_when_a_result_is_new(planted_report):
    request, store = planted_report
    assert not request.lacks_lines(store) and not request.to_compute(lambda one: True)
    other = ReportRequest(request.checkpoint, request.corpora, Settings(max_length=24))
    assert not other.lacks_lines(store), "nothing chooses heads yet"
    assert other.lines_key(store) is None and other.read(store).lines == []
    fewer = ReportRequest(request.checkpoint, {"text": request.corpora["text"]}, request.settings)
    assert fewer.lacks_lines(store) and fewer.lines_key(store) != request.lines_key(store)


def test_a_plugin_draws_its_heads_as_a_built_in_analysis_does(planted_report, planted_folder, monkeypatch):
    class Plugin(Analysis):
        name = "plugin"

        def found_heads(self, result):
            listed = [
                MarkedInput(place, ("the", "cat", "sat", "on", "the", "mat", ".")[:size], (1,))
                for place, size in (("too short", 3), ("line 1", 7), ("line 2", 6))
            ]
            yield FoundHead(Head(1, 0), "a plugin's", "90%", is_of_keys=False, inputs=lambda: listed)

    monkeypatch.setattr(lines_module, "ANALYSES", {"plugin": Plugin()})
    results: dict = {"plugin": SimpleNamespace(provenance={"settings": {"max_length": 64}})}
    (drawn,) = lines_of(results, load(find_checkpoint(str(planted_folder)), "cpu"), False)
    assert (drawn.figure, drawn.title, drawn.where) == (5, "2-1: a plugin's, 90%", "line 1")
    assert [drawn.labels[row] for row in drawn.red] == ["cat"]
