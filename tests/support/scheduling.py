"""Which process runs which tests: those of a file together, and those with a browser in two processes."""

from xdist.scheduler import LoadFileScheduling

BROWSER = "tests/browser/"


class TwoBrowsers(LoadFileScheduling):
    """Tests with a browser wait half of the time. Two processes have them all, each with a server and a browser, while
    others compute."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        half = "first" if file < f"{BROWSER}test_b" else "second"  # both take about as long
        return BROWSER + half if file.startswith(BROWSER) else file
