"""Tokens as text, for each way in which vocabularies mark where a word begins."""

import pytest

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


def test_a_bare_address_is_broken_and_a_revision_can_be_copied() -> None:
    assert "\u2060" in plain("write to someone@example.org")
    assert plain("EleutherAI/model@step0, and others.").count("\u2060") == 0
