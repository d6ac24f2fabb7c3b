"""Raw text: one paragraph per line, a blank line between documents."""

import pytest

from bertviz_core.corpora.readers import TextCorpus
from bertviz_core.errors import InputError


def paragraphs(source, text):
    return [(p.document, p.line, p.text) for p in TextCorpus(source(text)).paragraphs()]


def test_blank_lines_end_documents(source):
    assert paragraphs(source, "a\nb\n\nc\n") == [(0, 1, "a"), (0, 2, "b"), (1, 4, "c")]


def test_blank_lines_at_either_end_and_in_rows_make_no_documents(source):
    assert paragraphs(source, "\n\na\n\n \t\n\nb\n\n\n") == [(0, 3, "a"), (1, 7, "b")]


def test_a_last_line_without_its_end_counts(source):
    assert paragraphs(source, "a\n\nb") == [(0, 1, "a"), (1, 3, "b")]


def test_windows_line_ends_make_the_same_documents(source):
    assert paragraphs(source, "a\r\nb\r\n\r\nc\r\n") == paragraphs(source, "a\nb\n\nc\n")


@pytest.mark.parametrize(("text", "said"), [("", "is empty"), ("\n \n\t\r\n", "only blank lines"), ("\ufeff", "blank")])
def test_nothing_is_refused(source, text, said):
    with pytest.raises(InputError, match=said) as caught:
        paragraphs(source, text)
    assert caught.value.where == "given.txt"


def test_paragraphs_are_read_anew(source):
    corpus = TextCorpus(source("a\nb\n"))
    assert list(corpus.paragraphs()) == list(corpus.paragraphs())
