"""Whether words are English, so that numbers of English can stand beside theirs."""

from collections.abc import Iterable

ARTICLE = "the"
LEAST = 0.01  # the share of words that are this article; in English prose and dialogue it is 0.02 to 0.07


def is_english(words: Iterable[str]) -> bool:
    """Whether at least LEAST of the words are `the`, which hardly any other language has (docs/methods.md,
    section 6).

    >>> is_english("the dog chased the cat".split()), is_english("der Hund jagt die Katze".split())
    (True, False)
    """
    total = articles = 0
    for word in words:
        total += 1
        articles += word.lower() == ARTICLE
    return articles > 0 and articles >= LEAST * total
