"""How text is written on a screen: its direction, the width of its characters, and marks that make it visible."""

import re
from collections import Counter
from collections.abc import Iterable
from unicodedata import bidirectional, category, east_asian_width

# Control characters as their pictures; what XML forbids, or has no glyph, as U+FFFD.
PICTURES = {code: chr(0x2400 + code) for code in range(32)} | {10: "↵", 127: "␡"}
PICTURES |= dict.fromkeys([*range(128, 160), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF], "\ufffd")
RIGHT_TO_LEFT = ("R", "AL")  # Unicode's bidirectional classes; letters from left to right are L


def visible(text: str) -> str:
    """Make a label visible: control characters as pictures, lone spaces as boxes, nothing as the empty set."""
    pictured = text.translate(PICTURES)
    return pictured if pictured.strip() else "␣" * len(pictured) or "∅"


def printable(text: str) -> str:
    """A text for a terminal, lines and tabs as they are: control characters, which it would obey, as pictures."""
    return text.translate({code: picture for code, picture in PICTURES.items() if chr(code) not in "\n\t"})


def right_to_left(words: Iterable[str]) -> bool:
    """Whether most letters with a direction are of a writing like Arabic or Hebrew."""
    counts = Counter(bidirectional(letter) for word in words for letter in word)
    return sum(counts[kind] for kind in RIGHT_TO_LEFT) > counts["L"]


def display_width(text: str) -> int:
    """Width in monospaced letters: two for a wide letter, as in Chinese, none for a mark."""
    # Marks and invisible characters are left out.
    letters = [letter for letter in text if category(letter) not in ("Mn", "Me", "Cf")]
    return len(letters) + sum(east_asian_width(letter) in "WF" for letter in letters)


def sans_serif_width(text: str) -> float:
    """About the width of a text in a sans-serif font, in units of the font's size; marks have none."""
    letters = [letter for letter in text if category(letter) not in ("Mn", "Me", "Cf")]
    return sum(_sans_serif_letter(letter) for letter in letters)


def _sans_serif_letter(letter: str) -> float:
    if east_asian_width(letter) in "WF":
        return 1.0
    if letter in "ijlI'|.,:;!":
        return 0.27
    if letter in 'frt()[]-/\\" ':
        return 0.35
    if letter in "mwMW@%—…":
        return 0.85
    return 0.7 if letter.isupper() else 0.55


def isolated(text: str) -> str:
    """The text, between Unicode's isolates where it has letters that run from right to left."""
    has_such = not text.isascii() and any(bidirectional(letter) in RIGHT_TO_LEFT for letter in text)
    return f"\u2068{text}\u2069" if has_such else text


def cut_end(label: str, maximum: int = 24) -> str:
    """The label, with an ellipsis in place of its end where it has more characters than the maximum."""
    return label if len(label) <= maximum else label[: maximum - 1] + "…"


def join_words(words: Iterable[str]) -> str:
    """Words of a treebank as they are written, with no space before what ends a word, and none inside quotation marks.

    >>> join_words(["Do", "n't", "touch", "Ada", "'s", "wire", ",", "she", "said", "."])
    "Don't touch Ada's wire, she said."
    >>> join_words(['"', "Stop", "!", '"'])
    '"Stop!"'
    """
    text = re.sub(r" (?=[.,;:!?)\]]|n't\b|'(?:s|m|d|ll|re|ve)\b)", "", " ".join(words))
    return re.sub(r'" ([^"]*) "', r'"\1"', text)
