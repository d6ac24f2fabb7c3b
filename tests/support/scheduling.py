"""Which process runs which tests: those of a file together, and those with a browser in two processes."""

from xdist.scheduler import LoadFileScheduling

BROWSER = "tests/browser/"


class TwoBrowsers(LoadFileScheduling):
    """Two processes have a server and a browser each for all tests of one: these wait half of the time, in which the
    other processes compute."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        half = "first" if file < f"{BROWSER}test_b" else "second"  # which take about equally long
        return BROWSER + half if file.startswith(BROWSER) else file
