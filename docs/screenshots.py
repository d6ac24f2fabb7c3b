"""Take the pictures of README and docs/pages.md, the moving one too, from the running app.

    python -m docs.screenshots

Needs Chromium. Pages open on the stored sample results; only the attention viewer and the page of one head run the
model, on one input each.
"""

import tempfile
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image

from bertviz_core.analyses.behaviors import linguistic
from tests.support import chromium as browser
from tests.support.shipped import clearest, result

FOLDER = Path(__file__).parent
CLEAREST = clearest("previous")
SINK = clearest("to_cls")
FINDER = next(iter(linguistic({"dependency_heads": result("dependency_heads")})))  # of a relation
PAGES = {
    "overview": f"?head={CLEAREST}",
    "head": f"head?head={FINDER}",
    "compare": "compare",
    "emergence": "emergence",
    "tour": "tour?step=4",
    "attention_viewer": f"attention_viewer?head={CLEAREST}&pin=from12",
    "surface_patterns": f"surface_patterns?head={SINK}&quantity=to_cls",
    "sep_gradients": "sep_gradients",
    "entropy": f"entropy?head={SINK}",
    "reach": f"reach?head={CLEAREST}",
    "dependency_heads": "dependency_heads",
    "coreference_heads": "coreference_heads",
    "probes": "probes",
    "clustering": f"clustering?head={CLEAREST}",
    "ablation": f"ablation?head={CLEAREST}",
    "next_token": "next_token?model=demo-decoder",
    "minimal_pairs": "minimal_pairs",
    "induction": "induction?model=demo-decoder",
    "weights": "weights?head=3-10",
}
SYNTAX = '.point[aria-label*="dobj"]'  # the head of direct objects, on the overview's map
VIEWER = "attention_viewer?input=own+text&text=She+bought+a+red+bicycle+for+her+brother.&pin=from6,from9&head={}"
SIZE = (960, 540)  # pixels of the moving picture, half as many again in the browser
CURSOR = """([x, y]) => {
  const arrow = '<path d="M2 2v24l6-5 4 10 5-2-4-10h8z" fill="#fff" stroke="#000" stroke-width="2"/>';
  const cursor = document.createElement("div");
  cursor.id = "cursor";
  cursor.innerHTML = `<svg width="30" height="34">${arrow}</svg>`;
  cursor.style.cssText = `position: fixed; z-index: 9999999; pointer-events: none; left: ${x}px; top: ${y}px`;
  document.body.append(cursor);
}"""


class Film:
    """Frames of one page, a mouse pointer drawn on them."""

    def __init__(self, page: Any) -> None:
        self.page, self.at = page, (900.0, 600.0)
        self.frames: list[Image.Image] = []
        self.durations: list[int] = []

    def shoot(self, milliseconds: int) -> None:
        """Take a frame that stands for so long."""
        picture = Image.open(BytesIO(self.page.screenshot())).convert("RGB")
        self.frames.append(picture.resize(SIZE, Image.Resampling.LANCZOS))
        self.durations.append(milliseconds)

    def point(self, target: Any, steps: int = 5) -> None:
        """Move the pointer to the middle of an element."""
        box = target.bounding_box()
        end = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        for step in range(1, steps + 1):
            x, y = (a + (b - a) * step / steps for a, b in zip(self.at, end, strict=True))
            self.page.mouse.move(x, y)
            self.page.evaluate("([x, y]) => Object.assign(cursor.style, {left: `${x}px`, top: `${y}px`})", [x, y])
            self.shoot(70)
        self.at = end

    def click(self, target: Any) -> None:
        """Point at an element, click, and wait for what comes of it."""
        self.point(target)
        target.click()
        browser.settle(self.page)

    def open(self, address: str) -> None:
        """Go to a page, the pointer where it was."""
        self.page.goto(address)
        self.page.wait_for_selector("h1", timeout=60_000)
        browser.settle(self.page)
        self.page.locator(browser.PICTURES).first.wait_for()
        self.page.evaluate(CURSOR, self.at)

    def save(self, path: Path) -> None:
        """Write an endless WebP."""
        first, *others = self.frames
        first.save(path, save_all=True, append_images=others, duration=self.durations, loop=0, quality=85, method=4)


def film(chromium: Any, address: str) -> None:
    """From the map of heads to a head, its lines in the viewer, its arcs in a treebank, and every head's entropy."""
    page = browser.open_page(chromium, address)
    page.set_viewport_size({"width": SIZE[0] * 4 // 3, "height": SIZE[1] * 4 // 3})
    shown = Film(page)
    shown.open(address)
    shown.shoot(1200)
    head = page.locator(SYNTAX).first
    label = head.get_attribute("data-head")
    shown.click(head)
    shown.shoot(1800)
    shown.open(f"{address}/{VIEWER.format(label)}")
    shown.shoot(2600)
    shown.open(f"{address}/dependency_heads")
    shown.shoot(2200)
    page.locator("figure svg").first.scroll_into_view_if_needed()
    shown.shoot(2800)
    shown.open(f"{address}/entropy")
    shown.click(page.locator(f'[data-head="{label}"]').first)
    shown.shoot(2200)
    shown.save(FOLDER / "app.webp")
    page.close()


def save(picture: bytes, path: Path) -> None:
    """Write a picture of a page in 256 colors, each a few steps of 255 off at most: a third of the bytes."""
    method, dither = Image.Quantize.MAXCOVERAGE, Image.Dither.NONE
    colors = Image.open(BytesIO(picture)).convert("RGB").quantize(256, method=method, kmeans=2, dither=dither)
    colors.save(path, optimize=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        address = stack.enter_context(browser.served(Path(folder) / "store"))
        chromium = stack.enter_context(browser.browser())
        film(chromium, address)
        for name, path in PAGES.items():
            page = browser.open_page(chromium, f"{address}/{path}")
            save(page.screenshot(), FOLDER / f"{name}.png")
            page.close()


if __name__ == "__main__":
    main()
