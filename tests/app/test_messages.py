"""Tokens as text, for each way in which vocabularies mark where a word begins."""

from types import SimpleNamespace

import pytest

from bertviz_core.errors import InputError
from pages.shared import messages
from pages.shared.messages import joined, plain

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        (["these", "enzymes", "in", "check"], "these enzymes in check"),  # of WordPiece, without a piece of a word
        (["sour", "do", "##ugh", "loaves"], "sour dough loaves"),
        (["[CLS]", "##s", "ends"], "\\[CLS\\] \\#\\#s ends"),
        (["The", "Ġca", "t", "ĠcafÃ©"], "The cat café"),
        (["▁The", "▁ca", "t"], "The cat"),
        (list("the cat"), "the cat"),  # of ByT5
    ],
)
def test_tokens_are_joined_to_words(tokens: list[str], text: str) -> None:
    assert joined(" ".join(tokens)) == text


def test_what_a_hint_has_as_code_is_code(monkeypatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(messages.st, "error", lambda text, icon: shown.append(text))
    monkeypatch.setattr(messages.services, "access", lambda: SimpleNamespace(public=False))
    messages.error(InputError("A `name`_.", hint="`demo` always *works*."))
    assert shown == ["A \\`name\\`\\_\\.  \n`demo` always \\*works\\*\\."]


def test_a_bare_address_is_broken_and_a_revision_can_be_copied() -> None:
    assert "\u2060" in plain("write to someone@example.org")
    assert plain("EleutherAI/model@step0, and others.").count("\u2060") == 0
