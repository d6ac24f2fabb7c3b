"""Sentences as SVG: well-formed, words escaped, arcs where they belong, right solid and wrong dashed."""

from xml.etree import ElementTree

from bertviz_core.plotting.arcs import RIGHT, WRONG, Arc, sentence_svg

SVG = "{http://www.w3.org/2000/svg}"
WORDS = ["<script>alert(1)</script>", "sat & saw", '"quoted"', "猫"]


def drawn(gold, guesses=()):
    return ElementTree.fromstring(sentence_svg(WORDS, gold, guesses, 'a "name" <b>'))


def groups(svg):
    return svg.findall(f"{SVG}g")


def test_words_labels_and_notes_come_out_as_they_went_in():
    svg = drawn([Arc(0, 1, "<i>", "a < b")])
    texts = [text.text for text in svg.findall(f"{SVG}text")]
    assert texts == WORDS
    assert svg.get("aria-label") == 'a "name" <b>'
    (group,) = groups(svg)
    assert group.find(f"{SVG}text").text == "<i>" and group.find(f"{SVG}title").text == "a < b"


def test_gold_lies_above_the_words_and_guesses_below():
    svg = drawn([Arc(0, 3, "gold")], [Arc(0, 2, "guess", right=False)])
    line = float(svg.findall(f"{SVG}text")[0].get("y"))
    gold, guess = (float(group.find(f"{SVG}text").get("y")) for group in groups(svg))
    assert gold < line - 14 < line < guess


def test_right_is_solid_and_wrong_is_dashed():
    svg = drawn([], [Arc(0, 1, right=True), Arc(2, 1, right=False)])
    right, wrong = (group.find(f"{SVG}path") for group in groups(svg))
    assert (right.get("stroke"), right.get("stroke-dasharray")) == (RIGHT, None)
    assert wrong.get("stroke") == WRONG and wrong.get("stroke-dasharray")


def test_an_arc_over_another_goes_higher_and_everything_stays_inside():
    svg = drawn([Arc(0, 3, "outer"), Arc(1, 2, "inner"), Arc(3, -1, "root")], [Arc(1, 0, "x", right=True)])
    outer, inner, root, below = (float(group.find(f"{SVG}text").get("y")) for group in groups(svg))
    assert 0 < root < outer < inner < below < float(svg.get("height"))
    xs = [float(text.get("x")) for text in svg.findall(f"{SVG}text")]
    assert xs == sorted(xs) and xs[-1] < float(svg.get("width"))
