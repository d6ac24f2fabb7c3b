"""Where choices live: the values and their address know no Streamlit, and nobody else touches its session."""

from tests.test_imports import HEAVY, PATHS, ROOT, check_without

STATE = "pages.shared.state"


def test_choices_and_their_address_need_no_streamlit() -> None:
    check_without([f"{STATE}.{name}" for name in ("choices", "address", "selection")], {"streamlit", *HEAVY})


def test_the_session_of_streamlit_is_read_and_written_in_one_place() -> None:
    paths = [path for path in PATHS.values() if "session_state" in path.read_text(encoding="utf-8")]
    users = {str(path.relative_to(ROOT)) for path in paths}
    assert users == {"pages/shared/state/session.py", "pages/shared/widgets.py"}
