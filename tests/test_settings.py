"""Settings: what a model, or nobody, can use is refused with the value that can."""

import pytest

from bertviz_core.errors import SettingsError
from bertviz_core.settings import Settings


def test_the_defaults_are_the_papers():
    settings = Settings()
    assert (settings.max_length, settings.limit, settings.seed, settings.paper) == (128, None, 0, False)
    settings.check(512)
    assert Settings(mode="paper").paper


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"max_length": 513}, "512"),
        ({"max_length": 7}, "8 or more"),
        ({"limit": 0}, "1 or more"),
        ({"limit": -3}, "1 or more"),
        ({"mode": "exact"}, "corrected, paper"),
        ({"dtype": "float16"}, "float32, bfloat16"),
    ],
)
def test_what_cannot_be_is_refused(changed, said):
    with pytest.raises(SettingsError, match=said):
        Settings(**changed).check(512)


def test_the_models_own_limit_is_allowed_and_no_limit_is_no_limit():
    Settings(max_length=512).check(512)
    Settings(max_length=5000).check(None)
