"""Errors say what, where, and what to do."""

from bertviz_core import errors


def test_a_message_has_place_fact_and_hint():
    error = errors.InputError("It is empty.", where="a.txt, line 3", hint="Write something.")
    assert str(error) == "a.txt, line 3: It is empty. Write something."
    assert str(errors.InputError("It is empty.")) == "It is empty."


def test_a_download_names_its_size():
    error = errors.DownloadNeeded("bert-base-uncased", 440_473_133)
    assert "440 MB" in str(error)
    assert "'bert-base-uncased'" in str(error)
