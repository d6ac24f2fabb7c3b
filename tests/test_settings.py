import re
from pathlib import Path

import pytest

from bertviz_core.errors import SettingsError
from bertviz_core.settings import LOCAL, Access, Settings, access_from_environment


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"max_length": 513}, "512"),
        ({"max_length": 7}, "8 or more"),
        ({"limit": 0}, "1 or more"),
        ({"limit": -3}, "1 or more"),
        ({"mode": "exact"}, "corrected, paper"),
        ({"dtype": "float16"}, "float32, bfloat16"),
    ],
)
def test_what_cannot_be_is_refused(changed, message):
    with pytest.raises(SettingsError, match=message):
        Settings(**changed).check(512)


def test_ones_own_machine_opens_everything_but_sends_no_token() -> None:
    assert access_from_environment({}) == Access(hub_token=False)
    own = access_from_environment({"BERTVIZ_DOWNLOADS": "off", "BERTVIZ_MODELS": "/"})
    assert (own.public, own.folders, own.downloads) == (False, (Path("/"),), 0)
    assert LOCAL.folders is None and LOCAL.downloads is None and LOCAL.hub_token is None


def test_a_public_server_opens_only_what_is_allowed_one_by_one(tmp_path: Path) -> None:
    access = access_from_environment({"BERTVIZ_PUBLIC": "1"})
    assert (access.public, access.folders, access.downloads) == (True, (), 0)
    (tmp_path / "models").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "models")
    given = {"BERTVIZ_PUBLIC": "yes", "BERTVIZ_MODELS": f"{tmp_path / 'link'}:{tmp_path}"}
    access = access_from_environment(given | {"BERTVIZ_DOWNLOADS": "2.5", "BERTVIZ_UPLOADS": "1"})
    assert access == Access(True, ((tmp_path / "models").resolve(), tmp_path.resolve()), 2_500_000_000, False, 10**9)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BERTVIZ_PUBLIC", "maybe"),
        ("BERTVIZ_DOWNLOADS", "lots"),
        ("BERTVIZ_DOWNLOADS", "-1"),
        ("BERTVIZ_UPLOADS", "nan"),
        ("BERTVIZ_UPLOADS", "1e99"),
        ("BERTVIZ_MODELS", "/no/such/folder"),
        ("BERTVIZ_FRAME_ANCESTORS", "*"),
        ("BERTVIZ_FRAME_ANCESTORS", "https://*"),
        ("BERTVIZ_FRAME_ANCESTORS", "https://*.org"),
        ("BERTVIZ_FRAME_ANCESTORS", "example.org"),
        ("BERTVIZ_FRAME_ANCESTORS", "https://example.org/page"),
        ("BERTVIZ_FRAME_ANCESTORS", "https://example.org; script-src *"),
        ("BERTVIZ_FRAME_ANCESTORS", "https://example.org, https://example.net"),
        ("BERTVIZ_FRAME_ANCESTORS", "'none'"),
    ],
)
def test_a_variable_that_cannot_be_read_is_named_and_nothing_opens(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=name):
        access_from_environment({"BERTVIZ_PUBLIC": "1", name: value})


def test_sites_that_may_frame_the_app_are_named_by_their_origins() -> None:
    named = "https://huggingface.co  https://*.hf.space\nhttp://localhost:8000"
    access = access_from_environment({"BERTVIZ_FRAME_ANCESTORS": named})
    assert access.frame_ancestors == tuple(named.split())


def test_every_variable_is_explained() -> None:
    root = Path(__file__).parent.parent
    read = set(re.findall(r"BERTVIZ_\w+", (root / "bertviz_core/settings.py").read_text()))
    rows = [row for row in (root / "docs/deploy.md").read_text().splitlines() if row.startswith("| `BERTVIZ_")]
    table = {cells[1].strip(" `"): cells[2].strip(" `") for row in rows if (cells := row.split("|"))}
    assert read - {"BERTVIZ_"} <= set(table)
    assert float(table["BERTVIZ_UPLOADS"]) * 10**9 == LOCAL.uploads
