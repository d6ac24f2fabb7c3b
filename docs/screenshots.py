"""Take the README's pictures from the running app.

    python -m docs.screenshots

Needs Chromium. Pages open on the stored sample results; only the attention viewer runs the model, on one sentence.
"""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path

from tests.browser import chromium as browser
from tests.shipped import clearest

FOLDER = Path(__file__).parent
CLEAREST = clearest("previous")
SINK = clearest("to_cls")
PAGES = {
    "overview": f"?head={CLEAREST}",
    "emergence": "emergence",
    "tour": "tour?step=4",
    "attention_viewer": f"attention_viewer?head={CLEAREST}&pin=from12",
    "surface_patterns": f"surface_patterns?head={SINK}&quantity=to_cls",
    "sep_gradients": "sep_gradients",
    "entropy": f"entropy?head={SINK}",
    "dependency_heads": "dependency_heads",
    "coreference_heads": "coreference_heads",
    "probes": "probes",
    "clustering": f"clustering?head={CLEAREST}",
    "ablation": f"ablation?head={CLEAREST}",
    "induction": "induction",
}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        address = stack.enter_context(browser.served(Path(folder) / "store"))
        chromium = stack.enter_context(browser.browser())
        for name, path in PAGES.items():
            page = browser.open_page(chromium, f"{address}/{path}")
            page.screenshot(path=FOLDER / f"{name}.png")
            page.close()


if __name__ == "__main__":
    main()
