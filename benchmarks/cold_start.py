"""How long a container takes from its command to the first figure in a browser, without a container: what the
Dockerfile copies is copied and compiled into a folder, and its command runs there with its variables.

    python -m benchmarks.cold_start --turns 3
"""

import argparse
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import psutil

from benchmarks.first_plot import SHOWN
from tests.support import chromium as browser

DOCKERFILE = (browser.ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=3)
    turns = [turn() for _ in range(parser.parse_args().turns)]
    for name, seconds in zip(("answers", "figure", "CPU"), zip(*turns, strict=True), strict=True):
        print(f"{name:8} {median(seconds):6.2f} s   {min(seconds):6.2f} to {max(seconds):.2f}")


def turn() -> tuple[float, float, float]:
    """Seconds from the command until the server answers, and until the first figure is drawn in a browser with an empty
    cache; and the CPU seconds of the server until then."""
    with tempfile.TemporaryDirectory() as folder, browser.browser() as chromium:
        app, data = Path(folder) / "app", Path(folder) / "data"
        build(app)
        page = chromium.new_page()
        page.add_init_script(SHOWN)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        environment = os.environ | variables(data) | {"STREAMLIT_SERVER_PORT": port, "PATH": path()}
        start = time.time()
        server = subprocess.Popen(command(), cwd=app, env=environment, stdout=subprocess.DEVNULL)
        try:
            browser.wait_until_healthy(f"http://127.0.0.1:{port}/_stcore/health", server)
            answered = time.time() - start
            page.goto(f"http://127.0.0.1:{port}", wait_until="commit")
            page.wait_for_function("window.seen?.plot", timeout=60_000)
            figure = time.time() - start
            used = psutil.Process(server.pid).cpu_times()
            return answered, figure, used.user + used.system
        finally:
            server.terminate()
            server.wait(20)


def build(app: Path) -> None:
    """Copy and compile what the Dockerfile does."""
    app.mkdir()
    for line in re.findall(r"(?m)^COPY (.+)$", DOCKERFILE):
        *sources, target = line.split()
        for each in map(browser.ROOT.joinpath, sources):
            if each.is_dir():
                shutil.copytree(each, app / target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(each, app / target)
    (compiled,) = re.findall(r"(?m)^RUN python (-m compileall .+)$", DOCKERFILE)
    subprocess.run([sys.executable, *compiled.split()], cwd=app, check=True)


def variables(data: Path) -> dict[str, str]:
    """The Dockerfile's, whose folder for what is written is another."""
    (line,) = re.findall(r"(?m)^ENV (.+)$", DOCKERFILE)
    return {
        name: value.strip('"').replace("/data", str(data)) for name, value in (each.split("=") for each in line.split())
    }


def command() -> list[str]:
    """The Dockerfile's."""
    (line,) = re.findall(r"(?m)^CMD (.+)$", DOCKERFILE)
    words: list[str] = json.loads(line)
    return words


def path() -> str:
    """Where this Python's commands are first."""
    return f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


if __name__ == "__main__":
    main()
