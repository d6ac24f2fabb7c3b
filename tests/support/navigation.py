"""AppTest goes back to Streamlit's older way with a folder called `pages` before each run, which the server does not;
and it searches all installed packages for components, for each app anew."""

from functools import cache
from typing import Any

from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.pages_manager import PagesManager


def frame_at_every_page() -> None:
    """Have AppTest run app.py at every page, as the server does (pages.shared.server.startup)."""
    begin = PagesManager.__init__

    def init(self: PagesManager, *arguments: Any, **options: Any) -> None:
        begin(self, *arguments, **options)
        PagesManager.uses_pages_directory = False

    PagesManager.__init__ = init  # type: ignore[method-assign]


def search_components_once() -> None:
    """Have AppTest keep the components that it finds first."""
    manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
