from xml.etree import ElementTree

import pytest

from bertviz_core.analyses.coreference_heads.document_figure import draw
from bertviz_core.plotting.arcs import RIGHT, WRONG, Arc, sentence_svg
from bertviz_core.text_display import display_width, isolated, right_to_left

SVG = "{http://www.w3.org/2000/svg}"
WORDS = ["<script>alert(1)</script>", "sat & saw", '"quoted"', "猫"]
ARABIC, HEBREW, CHINESE = ["قرأت", "الكتاب", "."], ["קראה", "ספר", "BERT"], ["王", "爱", "书"]


def drawn(gold, guesses=()):
    """(drawing, its arcs)."""
    svg = ElementTree.fromstring(sentence_svg(WORDS, gold, guesses, 'a "name" <b>'))
    return svg, svg.findall(f"{SVG}g")


def test_words_come_out_as_they_went_in_and_right_is_solid_and_wrong_dashed():
    svg, (group,) = drawn([Arc(0, 1, "<i>", "a < b")])
    assert [text.text for text in svg.findall(f"{SVG}text")] == WORDS
    assert svg.get("aria-label") == 'a "name" <b>'
    assert group.find(f"{SVG}text").text == "<i>" and group.find(f"{SVG}title").text == "a < b"
    _, groups = drawn([], [Arc(0, 1, right=True), Arc(2, 1, right=False)])
    right, wrong = (group.find(f"{SVG}path") for group in groups)
    assert (right.get("stroke"), right.get("stroke-dasharray")) == (RIGHT, None)
    assert wrong.get("stroke") == WRONG and wrong.get("stroke-dasharray")


def test_gold_goes_above_the_words_higher_over_another_arc_and_guesses_below():
    gold = [Arc(0, 3, "outer"), Arc(1, 2, "inner"), Arc(3, -1, "root")]
    svg, groups = drawn(gold, [Arc(1, 0, "x", right=False)])
    line = float(svg.findall(f"{SVG}text")[0].get("y"))
    outer, inner, root, below = (float(group.find(f"{SVG}text").get("y")) for group in groups)
    assert 0 < root < outer < inner < line - 14 < line < below < float(svg.get("height"))
    xs = [float(text.get("x")) for text in svg.findall(f"{SVG}text")]
    assert xs == sorted(xs) and xs[-1] < float(svg.get("width"))


@pytest.mark.parametrize(
    ("words", "expected"), [(ARABIC, True), (HEBREW, True), (CHINESE, False), (["a", "ספר", "bcd"], False), ([], False)]
)
def test_most_letters_say_the_direction(words: list[str], expected: bool) -> None:
    assert right_to_left(words) is expected


@pytest.mark.parametrize(
    ("text", "expected"), [("cat", 3), ("图书馆", 6), ("e\u0301", 1), ("שָׁ", 1), ("カ", 2), ("", 0)]
)
def test_columns_count_wide_letters_twice_and_marks_not(text: str, expected: int) -> None:
    assert display_width(text) == expected


def test_only_what_runs_from_right_to_left_is_isolated() -> None:
    assert isolated("cat, 0.25") == "cat, 0.25"
    assert isolated("كتاب") == "\u2068كتاب\u2069"


def places(svg: str, words: list[str]) -> list[float]:
    texts = [element for element in ElementTree.fromstring(svg).iter(f"{SVG}text") if element.text in words]
    return [float(text.get("x") or 0) for text in sorted(texts, key=lambda text: words.index(text.text or ""))]


@pytest.mark.parametrize(("words", "leftwards"), [(ARABIC, True), (CHINESE, False)])
def test_the_first_word_stands_where_its_writing_begins(words: list[str], leftwards: bool) -> None:
    arcs = sentence_svg(words, [Arc(0, -1), Arc(1, 0), Arc(2, 0)], [])
    document = {"name": "d", "words": words, "sentences": [0], "mentions": [[0, 2, 0, 0, "nominal"]]}
    flowed = draw(document, [])
    for svg in (arcs, flowed):
        assert places(svg, words) == sorted(places(svg, words), reverse=leftwards)
        width = float(ElementTree.fromstring(svg).get("width") or 0)
        assert all(0 <= x < width for x in places(svg, words))
    (bar,) = ElementTree.fromstring(flowed).iter(f"{SVG}rect")
    texts = {text.text: text for text in ElementTree.fromstring(flowed).iter(f"{SVG}text")}
    left = texts[words[1] if leftwards else words[0]]
    assert bar.get("x") == left.get("x")  # the bar spans both words of the mention
