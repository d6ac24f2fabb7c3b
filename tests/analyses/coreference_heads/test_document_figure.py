"""Documents as SVG: every word is there and can be no markup, chains keep their color, guesses say right and wrong."""

from itertools import pairwise
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from bertviz_core.analyses.coreference_heads.document_figure import ALONE, CHAIN_COLORS, RIGHT, WRONG, Guess, draw
from bertviz_core.analyses.coreference_heads.passages import cut_passage, passages

SVG = "{http://www.w3.org/2000/svg}"
DOCUMENT = {
    "number": 0,
    "name": "<b>&",
    "words": ["Ann", "saw", "<script>alert(1)</script>", ".", "She", "&amp;", "\x00Bo", "x" * 300],
    "sentences": [0, 4],
    "mentions": [[0, 1, 0, 0, "proper"], [2, 3, 1, 2, "nominal"], [4, 5, 0, 4, "pronoun"], [4, 7, 2, 6, "proper"]],
}
GUESSES = [Guess(2, 0, 0.9, True), Guess(2, 1, 0.1, False)]


def test_words_are_text_and_nothing_else():
    whole = ET.fromstring(draw(DOCUMENT, GUESSES))
    tags = {element.tag.removeprefix(SVG) for element in whole.iter()}
    assert tags == {"svg", "title", "rect", "text", "path", "g", "tspan"}
    words = [text.text for text in whole.findall(f"{SVG}text")]
    assert words[:6] == ["Ann", "saw", "<script>alert(1)</script>", ".", "She", "&amp;"]
    assert words[6] == "?Bo" and words[7].endswith("…") and len(words[7]) < 60
    assert not any(name.startswith("on") or "href" in name for element in whole.iter() for name in element.attrib)


def test_chains_keep_their_color_a_lone_mention_is_grey_and_an_outer_one_below_the_inner():
    bars = ET.fromstring(draw(DOCUMENT, [])).findall(f"{SVG}rect")
    colors = [bar.get("fill") for bar in bars]
    assert colors.count(CHAIN_COLORS[0]) == 2 and ALONE in colors
    inner, outer = (bars[2 + colors[2:].index(fill)] for fill in (CHAIN_COLORS[0], ALONE))
    assert float(outer.get("y")) > float(inner.get("y")) and float(outer.get("width")) > float(inner.get("width"))


def test_right_is_a_solid_tick_and_wrong_a_dashed_cross_on_the_word_itself():
    whole = ET.fromstring(draw(DOCUMENT, [Guess(2, 0, 0.9, True), Guess(3, 1, 0.0034, False)]))
    words = {text.text: float(text.get("x")) for text in whole.findall(f"{SVG}text")}
    right, wrong = whole.findall(f"{SVG}g")
    for group, word, color, mark, dashed in ((right, "She", RIGHT, "✓", False), (wrong, "?Bo", WRONG, "✗", True)):
        box, path = group.find(f"{SVG}rect"), group.find(f"{SVG}path")
        assert box.get("stroke") == path.get("stroke") == color and group.find(f"{SVG}text").text == mark
        assert float(box.get("x")) == words[word] - 2
        assert group.find(f"{SVG}text/{SVG}tspan").text == (" 0.900" if mark == "✓" else " 0.003")
        assert ("stroke-dasharray" in path.attrib) is ("stroke-dasharray" in box.attrib) is dashed
        assert path.get("opacity") == "0"  # to another line: shown while one points at it
    assert right.find(f"{SVG}title").text == "She → Ann: 0.900, right"


def test_a_weight_that_would_cover_the_next_mark_is_left_to_the_text_on_hover():
    document = DOCUMENT | {"mentions": [[4, 5, 0, 4, "pronoun"], [5, 6, 0, 5, "pronoun"], [6, 7, 0, 6, "proper"]]}
    first, second = ET.fromstring(draw(document, [Guess(1, 0, 0.5, True), Guess(2, 0, 0.25, False)])).findall(f"{SVG}g")
    assert first.find(f"{SVG}text/{SVG}tspan") is None and "0.500" in first.find(f"{SVG}title").text
    assert second.find(f"{SVG}text/{SVG}tspan").text == " 0.250"


def test_no_line_is_wider_than_the_drawing():
    document = DOCUMENT | {"words": ["word"] * 100, "sentences": [0, 40], "mentions": []}
    drawn = ET.fromstring(draw(document, []))
    width = float(drawn.get("viewBox").split()[2])
    ends = [float(text.get("x")) + float(text.get("textLength")) for text in drawn.findall(f"{SVG}text")]
    assert max(ends) <= width and len({text.get("y") for text in drawn.findall(f"{SVG}text")}) > 4


@pytest.mark.parametrize(
    ("sentences", "words", "expected"),
    [([0], 10, [(0, 10)]), ([0, 3, 6], 9, [(0, 3), (3, 6), (6, 9)]), ([0, 2, 4, 8], 9, [(0, 4), (4, 8), (8, 9)])],
)
def test_passages_are_whole_sentences(sentences, words, expected):
    assert passages(sentences, words, length=4) == expected


def test_a_passage_is_a_document_of_its_own():
    part, guesses = cut_passage(DOCUMENT, GUESSES, (2, 8))
    assert part["words"][0].startswith("<script") and part["sentences"] == [2]
    assert part["mentions"][0] == [0, 1, 1, 0, "nominal"] and part["mentions"][1] == [2, 3, 0, 2, "pronoun"]
    assert guesses == [Guess(1, 0, 0.1, False)]  # the other one points before the passage
    assert draw(part, guesses)


@pytest.mark.parametrize("seed", range(8))
def test_no_curve_that_is_shown_runs_through_a_word_or_along_another(seed: int) -> None:
    rng = np.random.default_rng(seed)
    words = ["w" * int(n) for n in rng.integers(1, 14, 120)]
    document = {"name": "d", "words": words, "sentences": [0, 30, 70], "mentions": []}
    document["mentions"] = [[i, i + 1, 0, i, "nominal"] for i in range(2, 112, 10)]
    guesses = [Guess(i, int(rng.integers(i)), 0.5, True) for i in range(1, 11)]
    whole = ET.fromstring(draw(document, guesses))
    boxes = []
    for text in whole.findall(f"{SVG}text"):
        left, feet = float(text.get("x")), float(text.get("y"))
        boxes.append((left, left + float(text.get("textLength")), feet - 10, feet))
    left, _, width, height = map(float, whole.get("viewBox").split())
    along: dict[float, list[tuple[float, float]]] = {}
    paths = [path for path in whole.findall(f"{SVG}g/{SVG}path") if path.get("opacity") != "0"]
    assert len(paths) < len(guesses)  # those between lines are not drawn
    for path in paths:
        corners = [tuple(map(float, corner.split(","))) for corner in path.get("d")[1:].split(" L")]
        assert len(corners) == 4
        assert all(left <= x <= left + width and 0 <= y <= height for x, y in corners)
        for (x1, y1), (x2, y2) in pairwise(corners):
            lowest, highest, (start, end) = min(y1, y2), max(y1, y2), sorted((x1, x2))
            assert not any(a < end and start < b and top < highest and lowest < feet for a, b, top, feet in boxes)
            if y1 == y2:
                assert not any(a <= end and start <= b for a, b in along.get(y1, []))
                along.setdefault(y1, []).append((start, end))
