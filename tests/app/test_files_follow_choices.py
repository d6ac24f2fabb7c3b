"""A page draws the blocks that its files have, with the same words and tables, whatever is chosen (test_exports.py has
what a file makes of each block); and its command writes the same files: the same claim, relation, direction, type of
mentions, quantity, threshold and head."""

import json
import re
from collections.abc import Callable, Iterable
from html import escape
from pathlib import Path
from shlex import split
from typing import Any

import pytest

from bertviz_core import exports
from bertviz_core.analyses.base.block_contents import flat, tables_of
from bertviz_core.analyses.base.blocks import Block, Columns, Control, Offer, Tabs
from bertviz_core.analyses.base.result import Result
from pages.shared import blocks, page
from tests.support import shipped
from tests.support.driving import metrics, open_app, unescaped, words
from tests.support.running import run

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_store")]
# Page, parameters of its address, and arguments of its command.
CHOSEN = [
    ("weights", {"path": "value", "head": "3-2"}, "--path value --head 3-2"),
    ("surface_patterns", {}, "encyclopedia"),
    (
        "surface_patterns",
        {"quantity": "next", "over": "0.3", "head": "2-1"},
        "encyclopedia --quantity next --over 0.3 --head 2-1",
    ),
    ("surface_patterns", {"both": "true", "head": "1-3"}, "encyclopedia --both --head 1-3"),
    (
        "entropy",
        {"of": "max_weight", "share": "0.3", "head": "3-4"},
        "encyclopedia --quantity max_weight --share 0.3 --head 3-4",
    ),
    (
        "sep_gradients",
        {"gradient": "to_other", "head": "4-4"},
        "encyclopedia --quantity to_other --head 4-4",
    ),
    (
        "ablation",
        {"change": "gradient_estimate", "head": "2-2"},
        "encyclopedia --quantity gradient_estimate --head 2-2",
    ),
    (
        "reach",
        {"reach_quantity": "beyond", "below": "0.3", "head": "3-1"},
        "encyclopedia --quantity beyond --below 0.3 --head 3-1",
    ),
    (
        "clustering",
        {"root": "true", "over-previous": "0.3", "head": "2-2"},
        "encyclopedia --root --over-previous 0.3 --head 2-2",
    ),
    ("induction", {"head": "5-1"}, "--head 5-1"),
    ("dependency_heads", {}, "treebank"),
    (
        "dependency_heads",
        {"relation": "det", "direction": "governor->dependent", "head": "3-1", "view": "as-is"},
        "treebank --relation det --direction governor->dependent --head 3-1 --view as-is",
    ),
    (
        "dependency_heads",
        {
            "relation": "dobj",
            "direction": "dependent->governor",
            "head": "2-4",
            "which": "wrong",
            "order": "least confident first",
            "weight": "0.05",
            "sentence_page": "2",
            "arcs": "true",
        },
        "treebank --relation dobj --direction dependent->governor --head 2-4 --guesses wrong --order "
        "'least confident first' --least-weight 0.05 --page 2 --arcs",
    ),
    (
        "dependency_heads",
        {"relation": "det", "head": "3-1", "search": "the"},
        "treebank --relation det --head 3-1 --search the",
    ),
    (
        "probes",
        {"probe": "structural", "probe_search": "the", "probe_page": "2", "head": "3-1"},
        "treebank --probe structural --search the --page 2 --head 3-1",
    ),
    ("coreference_heads", {}, "coreference"),
    (
        "coreference_heads",
        {"kind": "pronoun", "guesses": "right", "over": "0.1", "passage_page": "2", "head": "2-2"},
        "coreference --kind pronoun --guesses right --least-weight 0.1 --page 2 --head 2-2",
    ),
    (
        "coreference_heads",
        {"kind": "pronoun", "candidates": "words", "direction": "antecedent->mention", "head": "3-5"},
        "coreference --kind pronoun --candidates words --direction antecedent->mention --head 3-5",
    ),
]


ON_SCREEN_ALONE = (Columns, Control, Offer, Tabs)


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[], bytes]]:
    """The builders of the last page's files, by suffix."""
    built: dict[str, Callable[[], bytes]] = {}
    monkeypatch.setattr(page, "offer_files", lambda files: built.update({Path(n).suffix: b for n, b in files.values()}))
    return built


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Block]:
    """The blocks that pages draw."""
    draw = blocks.draw
    of_page: list[Block] = []

    def drawing(page_blocks: Iterable[Block], **options: Any) -> None:
        page_blocks = list(page_blocks)
        of_page.extend(page_blocks)
        draw(page_blocks, **options)

    monkeypatch.setattr(blocks, "draw", drawing)
    return of_page


@pytest.fixture
def results(monkeypatch: pytest.MonkeyPatch) -> list[Result]:
    """What the files of pages are of."""
    downloads = page.downloads
    of_files: list[Result] = []

    def offering(result: Result, of_page: Callable[[], Result] | None = None) -> None:
        of_files.append(of_page() if of_page else result)
        downloads(result, of_page)

    monkeypatch.setattr(page, "downloads", offering)
    return of_files


def contents(page_blocks: Iterable[Block]) -> set[tuple[Any, ...]]:
    """Of each block what it is called and says, and its tables."""
    words = ("name", "title", "text", "note", "alt")
    return {
        (
            type(block).__name__,
            *(getattr(block, name, "") for name in words),
            str(getattr(block, "finding", "")),
            *(each.table.to_csv() for each in tables_of(block)),
        )
        for block in flat(page_blocks)
        if not isinstance(block, ON_SCREEN_ALONE)
    }


def claim(app) -> str:
    """The first sentence of a page, which has the icon of its state before it; where its claim is shorter, that of the
    details, which end with the rule."""
    headline = next(each for each in app.main.get("markdown") if each.value.startswith(":"))
    details, *rule = unescaped(headline.proto.help).split("\n\n**", 1)
    return details if rule else unescaped(headline.value).partition("**")[2].removesuffix("**")


def without_ids(data: bytes) -> bytes:
    """Without the random ids of plotly's figures."""
    return re.sub(rb"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", b"", data)


@pytest.mark.parametrize(("name", "address", "command"), CHOSEN)
def test_page_files_and_command_say_the_same(name, address, command, files, drawn, results, tmp_path: Path) -> None:
    if "both" in address:
        assert not run("surface-patterns", "encyclopedia", "--weights", "norms", "--quiet").returncode
    app = open_app(name, **address)
    assert not app.error
    assert contents(drawn) == contents(exports.blocks_of(results[0]))
    whole = json.loads(files[".json"]())
    chosen = whole["chosen"]
    assert claim(app) == unescaped(chosen["finding"]["sentence"])
    in_file = [*chosen.values(), *whole["provenance"]["options"].values()]
    assert all(any(value.casefold() in str(each).casefold() for each in in_file) for value in address.values())
    assert chosen["head"] == app.selectbox(key="head").value
    compared = {".json", ".csv", ".tex", *(() if address else (".html",))}  # a page of figures takes a second
    outs = [tmp_path / f"x{suffix}" for suffix in files if suffix in compared]
    done = run(name.replace("_", "-"), *split(command), "--quiet", *(part for out in outs for part in ("--out", out)))
    assert done.returncode == 0, done.stderr
    for out in outs:
        assert without_ids(out.read_bytes()) == without_ids(files[out.suffix]()), out.name


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("emergence", {"training": "demo-decoder", "at_step": "1000", "relations_of": "det,UAS", "head": "3-1"}),
        ("emergence", {}),
        ("compare", {"analysis": "surface_patterns", "compared": "next", "head": "2-1"}),
        ("compare", {"analysis": "dependency_heads"}),
    ],
)
def test_a_page_of_several_results_draws_the_blocks_of_its_files(name, address, drawn, results) -> None:
    assert not open_app(name, **address).error
    assert contents(drawn) == contents(exports.blocks_of(results[0]))


def test_a_comparisons_files_are_of_the_quantity_on_the_page(files) -> None:
    for quantity in ("next", "previous"):
        app = open_app("compare", analysis="surface_patterns", quantity=quantity)
        whole = json.loads(files[".json"]())
        assert whole["provenance"]["chosen"] == {"quantity": quantity}
        sentence = whole["findings"][0]["sentence"]
        assert f"to the {quantity} token" in sentence and sentence in words(app)
        assert escape(sentence) in files[".html"]().decode()


def test_the_claim_and_the_cards_follow_the_direction() -> None:
    counts = shipped.result("dependency_heads").default_view()
    relation = "dobj"
    best = counts.best_choice(relation)
    other = 1 - best.direction
    right = counts.right[other, counts.relations.index(relation)]
    n = int(counts.n.sum(0)[counts.relations.index(relation)])
    direction = ("dependent->governor", "governor->dependent")[other]
    app = open_app("dependency_heads", relation=relation, direction=direction)
    assert f"finds {right.max() / n:.1%} of {n:,} {relation}" in claim(app)
    assert f"The best head of both directions is {best.head.label()}" in claim(app)
    assert (
        metrics(app)["Best head"]
        == f"{right.max() / n:.0%}"
        == metrics(app)[f"Chosen head {app.selectbox(key='head').value}"]
    )


@pytest.mark.parametrize("kind", ["pronoun", "proper", "nominal"])
def test_the_claim_the_cards_the_distances_and_the_list_follow_the_type_of_mentions(kind: str) -> None:
    counts = shipped.result("coreference_heads").default_view()
    row = ("all", "pronoun", "proper", "nominal").index(kind)
    best, n = counts.right[0, row].max(), int(counts.n[row])
    app = open_app("coreference_heads", kind=kind)
    assert f"{best / n:.1%} of {n:,} {'proper name' if kind == 'proper' else kind}" in claim(app)
    assert app.metric[0].value == f"{best / n:.0%}" and f"of {n:,} " in words(app)
    for name in ("nearest", "head match", "rule-based"):
        assert metrics(app)[name.capitalize()] == f"{counts.of_system(name)[row]:.0%}"
    assert not [button.label for button in app.button if button.label.startswith("Choose head")]
    axes = [json.loads(chart.proto.spec)["layout"]["xaxis"] for chart in app.get("plotly_chart")]
    (ticks,) = [axis["ticktext"] for axis in axes if axis["ticktext"][0].startswith("1-5<br>")]
    of_bins = counts.scores("nearest").of("distance", kind).n
    assert [tick.split("<br>")[1] for tick in ticks] == [f"n = {n:,}" for n in of_bins] and of_bins.sum() == n
