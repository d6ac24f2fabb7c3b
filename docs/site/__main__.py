"""Write the project's site: documentation, guided tour, API reference, and the atlas of the models that ship.

python -m docs.site --out site
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from plotly.offline import get_plotlyjs

from docs.site import pages, tour

PLOTLY = "plotly.js"
API = ("--docformat", "google", "--template-directory", "docs/site/api", "--favicon", "../icon.svg", "bertviz_core")
MODELS = ("demo", "demo-decoder")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="A folder, which is made.")
    parser.add_argument(
        "--without-atlas", action="store_true", help="Leave out the pages of heads, which take longest."
    )
    options = parser.parse_args()
    write(options.out.resolve(), with_atlas=not options.without_atlas)
    print(f"Open {options.out / 'index.html'}.")


def write(folder: Path, *, with_atlas: bool) -> None:
    """Write all parts into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_pages(folder)
    run("pdoc", *API, "!bertviz_core[.]", "--output-directory", str(folder / "api"))
    if with_atlas:
        run("bertviz_core", "atlas", *MODELS, "--home", "../index.html", "--out", str(folder / "atlas"))


def write_pages(folder: Path) -> None:
    """Write the documentation and the guided tour, with what they load."""
    pages.write(folder)
    shutil.copy(Path(__file__).parent / pages.STYLE, folder)
    shutil.copy(pages.ROOT / "pages" / "shared" / "icon.svg", folder)
    (folder / PLOTLY).write_text(get_plotlyjs(), "utf-8")
    (folder / pages.MENU["Guided tour"]).write_text(tour.page(PLOTLY), "utf-8")


def run(module: str, *arguments: str) -> None:
    """Run a module's command in the checkout."""
    subprocess.run([sys.executable, "-m", module, *arguments], cwd=pages.ROOT, check=True)


if __name__ == "__main__":
    main()
