"""Checks whether what a file gives as words are words, not placeholders or wordpieces, and whether lines are mark-up or
rows of a table."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

# What stands in place of words that may not be published. The first are words nowhere, the others are none where most
# words are such.
LEFT_OUT = re.compile(r"_+|[\[<({]+(?i:word|token|form|text)[\])>}]+|\s*")
PLACEHOLDER = re.compile(r"[-*?.…#]+|[xX]{2,}|(?i:word|token|form|text|none|null|nan|redacted|hidden|masked)")
MARKS = re.compile(r"[-*?.…#]+")
MIN_ALIKE = 20  # words of a file, from which on one word alone is no text, nor are as many lines of one word
# Marks of tokenizers, and (PIECES) the share of a file's words with a mark above which the words are pieces. English
# text that BERT has cut has the first mark in 8% of its words, text of SentencePiece and GPT-2 the second in each word.
CONTINUATION = re.compile(r"##\w")
WORD_START = re.compile(r"[▁Ġ]\S")
SPECIAL = re.compile(r"\[(?:CLS|SEP|PAD)\]|</?s>")
PIECES = {CONTINUATION: 0.03, WORD_START: 0.3, SPECIAL: 0.02}
MARKUP = re.compile(r"\s*</?[A-Za-z!?][^<>]*>|.*</[A-Za-z][\w:.-]*>\s*$")
# Two fields without a space between; digits alone are a number such as 1,000.
TABLE = re.compile(r".*\t|.*[A-Za-z\"'.!?][,;|][\"'\w]|.*\w[,;|](?:[A-Za-z]|[\"']\w)", re.ASCII)
# One word or mark, in a script that puts spaces between words, or words with their tags: EU NNP B-ORG, The/DT cat/NN.
LETTER = "[^\\W\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u9fff]"
WORD = rf"{LETTER}(?:{LETTER}|['’-]){{0,24}}|[^\w\s]{{1,3}}"
TAGGED = r"\S+[/_][A-Za-z$.,:*+-]{1,10}"
COLUMNS = re.compile(rf"\s*(?:{WORD}|\S+ (?:\S+ )*(?:[BIESLU]-[A-Za-z]+|O)|{TAGGED}(?:\s+{TAGGED}){{2,}})\s*$")
ODD = {  # from a pattern of lines that are no text to the reason with which they are counted
    MARKUP: "a line that looks like mark-up (read as it stands)",
    TABLE: "a line that looks like a row of a table (read as it stands)",
    COLUMNS: "a line of one word, or of words and their tags (read as it stands)",
}

WHERE_TO_GET_WORDS = (
    "Some corpora are published without their text: a treebank's README says where the text is, and how to merge them; "
    "the words of OntoNotes are in LDC2013T19, from which conll-2012's skeleton2conll.sh takes them."
)
WHOLE_WORDS = "Give whole words: a model's own tokenizer cuts them."


def is_left_out(words: Sequence[str]) -> bool:
    """Whether half of a sentence's words or more are placeholders; one of two words may be a line of underscores."""
    return 2 * sum(map(bool, map(LEFT_OUT.fullmatch, words))) >= len(words) > 2


def find_placeholder(words: Iterable[str], *, alike: bool) -> str | None:
    """The placeholder that stands for most words of a whole file; None for words. Where `alike`, the only word of a
    file is a placeholder too."""
    counts = Counter(words)
    # A full stop stands in every sentence: marks count only where there is nothing else.
    content = {word: n for word, n in counts.items() if not MARKS.fullmatch(word)} or counts
    found = {word: n for word, n in content.items() if LEFT_OUT.fullmatch(word) or PLACEHOLDER.fullmatch(word)}
    if 2 * sum(found.values()) > sum(content.values()):
        return max(found, key=lambda word: found[word])
    if alike and len(counts) == 1 and counts.total() >= MIN_ALIKE:
        return next(iter(counts))
    return None


def find_wordpiece(words: Iterable[str], *, special: bool) -> str | None:
    """An example, where the words of a whole file are pieces of a tokenizer's vocabulary; None for words. Where
    `special`, its special tokens are no words either."""
    counts = Counter(words)
    for pattern, share in PIECES.items():
        pieces = {word: n for word, n in counts.items() if pattern.match(word)}
        if (special or pattern is not SPECIAL) and sum(pieces.values()) > share * counts.total():
            return next(iter(pieces))
    return None


def find_oddity(lines: Sequence[str]) -> re.Pattern[str] | None:
    """MARKUP, TABLE or COLUMNS, where more than a third of a text's lines match it; else None. A few lines of one word
    each are a text."""
    patterns = [pattern for pattern in ODD if pattern is not COLUMNS or len(lines) >= MIN_ALIKE]
    counted = ((pattern, sum(map(bool, map(pattern.match, lines)))) for pattern in patterns)
    return next((pattern for pattern, count in counted if 3 * count > len(lines)), None)
