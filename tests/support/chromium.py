"""A running app and a real browser, for what AppTest cannot drive: clicks on figures, components, the address bar."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
PICTURES = ".map, .lines, figure, [data-testid=stPlotlyChart]"
BACKGROUNDS = {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 22, 28)"}
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-sync"]


@contextmanager
def served(store: Path, script: Path | None = None, root: Path = ROOT, python_path: str = "") -> Iterator[str]:
    """The app, or another script, on a free port, with a store of its own; gives its address. root: of the checkout."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--server.port", str(port), "--server.address", "127.0.0.1", "--server.headless", "true"]
    command = [sys.executable, "-m", "streamlit", "run", str(script or root / "app.py"), *options]
    log = (store.parent / "server.log").open("wb")
    server = subprocess.Popen(
        command,
        cwd=root,
        env=os.environ | {"BERTVIZ_STORE": str(store), "PYTHONPATH": python_path or str(root)},
        stdout=log,
        stderr=subprocess.STDOUT,
    )
    try:
        wait_until_healthy(f"http://127.0.0.1:{port}/_stcore/health", server)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(20)
        log.close()


@contextmanager
def browser() -> Iterator[Any]:
    """Headless Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


def open_page(chromium: Any, address: str, scheme: str = "light", width: int = 1280) -> Any:
    """A page whose title is there and whose script has run to its end."""
    page = new_tab(chromium, width)
    page.emulate_media(color_scheme=scheme)
    page.on("requestfailed", lambda request: page.problems.append(f"failed: {request.url}"))
    page.goto(address)
    page.wait_for_selector("h1", timeout=60_000)
    settle(page)
    return page


def new_tab(chromium: Any, width: int = 1280, height: int = 900) -> Any:
    """A tab of the browser's first context, so that Streamlit's own scripts are loaded and compiled once; what went
    wrong in it is in `page.problems`. The first tab stays blank and keeps the window: each window draws the browser's
    own bars, in a process of their own."""
    if not chromium.contexts:
        chromium.new_context().new_page()
    page = chromium.contexts[0].new_page()
    page.set_viewport_size({"width": width, "height": height})
    page.problems = []
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    return page


def switch_theme(page: Any, scheme: str) -> None:
    """Have the system ask for a theme, and wait until the page has it and its figures are drawn in it."""
    page.emulate_media(color_scheme=scheme)
    color = BACKGROUNDS[scheme]
    wait_until(
        page,
        "color => getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor === color",
        color,
    )
    page.wait_for_timeout(300)  # colors fade
    settle(page)


def wait_until(page: Any, condition: str, argument: Any = None) -> None:
    """Wait until a JavaScript expression, or function of the argument, is true, asked twenty times a second. By default
    it is asked at each frame, for which the browser draws all the while: a seventh of a core on an empty page."""
    page.wait_for_function(condition, arg=argument, polling=50, timeout=60_000)


def wait_for_address(page: Any, part: str) -> None:
    """Wait until the parameters of the address contain this, and the page that has them has run."""
    wait_until(page, "part => location.search.includes(part)", part)
    settle(page)


def wait_for_page(page: Any, title: str) -> None:
    """Wait until the page of this title is open."""
    wait_until(page, "title => document.querySelector('h1')?.innerText === title", title)
    settle(page)


def everywhere(page: Any, selector: str, expression: str) -> list[Any]:
    """A JavaScript expression of `e` for each element, those in shadow trees too."""
    return page.evaluate(
        f"""selector => {{
        const deep = (root) => [...root.querySelectorAll(selector),
          ...[...root.querySelectorAll('*')].filter((e) => e.shadowRoot).flatMap((e) => deep(e.shadowRoot))];
        return deep(document).map((e) => {expression});
    }}""",
        selector,
    )


def fits(page: Any) -> bool:
    """Whether the page needs no scrolling sideways."""
    inside: bool = page.evaluate(
        "(main => main.scrollWidth <= main.clientWidth)(document.querySelector('[data-testid=stMain]'))"
    )
    return inside


def settle(page: Any) -> None:
    """Wait until the script does not run any more and every figure is drawn."""
    settle_but_skeletons(page)
    wait_until(
        page,
        "[...document.querySelectorAll('[data-testid=stPlotlyChart]')].every(c => c.querySelector('.main-svg'))"
        " && !document.querySelector('[data-testid=stMain] [data-testid=stSkeleton]')",
    )


def settle_but_skeletons(page: Any) -> None:
    """Wait until the script does not run any more, on a page that has no result yet."""
    page.wait_for_timeout(150)  # a click takes a moment to reach the server
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]", timeout=60_000)


def wait_until_healthy(address: str, server: subprocess.Popen) -> None:
    """Wait until a server answers; raises AssertionError where it ends, or takes a minute."""
    for _ in range(240):
        if server.poll() is not None:
            raise AssertionError("the server did not start")
        try:
            with urllib.request.urlopen(address, timeout=1):
                return
        except OSError:
            time.sleep(0.25)
    raise AssertionError("the server did not answer within a minute")
