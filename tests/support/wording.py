"""Whether a text words anew what a finding says."""

import re
from collections.abc import Collection

NUMBER = re.compile(r"\d+\.\d+%|\d+ of \d+|\d\.\d{3,}")  # others may be the same by chance


def repeats_a_number(text: str, sentences: Collection[str]) -> bool:
    """Whether a number of the sentences is in the text apart from the sentences themselves."""
    for sentence in sentences:
        text = text.replace(sentence, "")
    return not {*NUMBER.findall(text)}.isdisjoint(NUMBER.findall(" ".join(sentences)))
