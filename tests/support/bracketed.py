"""Small documents written with brackets: `[1 The cat ] slept .`, sentences apart by ` / `, as CoNLL-2012 text."""


def conll(*documents: str, tags: dict[str, str] | None = None) -> str:
    """The documents in twelve columns; `tags` gives the part of speech of a word, by its form."""
    lines = []
    for number, text in enumerate(documents):
        lines.append(f"#begin document (d{number}); part 000")
        for sentence in text.split(" / "):
            lines += _rows(number, sentence.split(), tags or {})
            lines.append("")
        lines.append("#end document")
    return "\n".join(lines) + "\n"


def _rows(number: int, tokens: list[str], tags: dict[str, str]) -> list[str]:
    words: list[list] = []
    stack: list[str] = []
    opening: list[str] = []
    for token in tokens:
        if token.startswith("["):
            stack.append(token[1:])
            opening.append(f"({token[1:]}")
        elif token == "]":
            words[-1][1].append(f"{stack.pop()})")
        else:
            words.append([token, opening])
            opening = []
    return [
        " ".join([f"d{number}", "0", str(i), word, tags.get(word, "-"), *"------", "*", "|".join(marks) or "-"])
        for i, (word, marks) in enumerate(words)
    ]
