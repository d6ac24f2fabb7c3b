"""AppTest goes back to Streamlit's older way with a folder called `pages` before each run; the server does not."""

from typing import Any

from streamlit.runtime.pages_manager import PagesManager


def frame_at_every_page() -> None:
    """Have AppTest run app.py at every page, as the server does (pages.shared.server.startup)."""
    begin = PagesManager.__init__

    def init(self: PagesManager, *arguments: Any, **options: Any) -> None:
        begin(self, *arguments, **options)
        PagesManager.uses_pages_directory = False

    PagesManager.__init__ = init  # type: ignore[method-assign]
