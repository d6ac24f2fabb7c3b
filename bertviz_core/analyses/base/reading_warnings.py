"""What a reader of a result must know of its input before its numbers: warnings that stand above every headline."""

from bertviz_core.analyses.base.result import Provenance, Result
from bertviz_core.corpora import REPEATED, UNKNOWN, SkippedEntry
from bertviz_core.corpora.word_checks import COLUMNS, MARKUP, ODD, TABLE
from bertviz_core.numbers import unit_name

LARGE_SHARE = 1 / 3  # Above this share of a file a warning says how much was skipped.
REPEATED_SHARE = 0.02  # Above this share of the inputs a warning says how many repeat.
EXAMPLES = ("windows", "segments", "sequences", "sentences")  # inputs, of which provenance counts one kind first
UNKNOWN_SHARE = 0.02  # Above this share of the tokens a warning says that they are unknown.
SPLIT_SHARE = 0.3  # Above this share of the words a warning says that they are split.
SPLIT_SHARE_OF_SMALL = 0.6  # the same for a small vocabulary
SMALL_VOCABULARY = 10_000  # tokens
USUAL_VOCABULARY = 30_000  # tokens; of results that do not say how many there are
FILES = "files"  # the unit of what was left out of archives
LOOKS = {
    MARKUP: "mark-up, with tags",
    TABLE: "rows of a table, with separators",
    COLUMNS: "columns, or words with their tags,",
}
TEXT_HINT = "Save the text alone, or as JSON lines with a field “text”."


def reading_warnings(result: Result) -> list[str]:
    """Sentences, each once, for a result, for both runs of a comparison, and for each corpus of a training."""
    read = (each for provenance in result.runs.values() for each in provenance.get("read", [provenance]))
    lines = (line for provenance in read for line in warnings_of(provenance))
    return list(dict.fromkeys(lines))


def warnings_of(provenance: Provenance) -> list[str]:
    """What was skipped or is no text, where it is much of the input; and tokens that the model does not know."""
    entries = provenance["skipped"]
    name = provenance["corpus"]["name"]
    units = dict.fromkeys(entry["unit"] for entry in entries if "unit" in entry)
    lines = [_share(unit, entries, provenance) for unit in units]
    if left_out := [entry for entry in entries if entry.get("unit") == FILES]:
        count = sum(entry["count"] for entry in left_out)
        files = ", ".join(where for entry in left_out for where in entry["where"][:3])
        lines.append(f"{count:,} of the files in {name} were not read, as others have another ending: {files}.")
    for pattern, reason in ODD.items():
        if found := [entry for entry in entries if entry["reason"] == reason]:
            count = sum(entry["count"] for entry in found)
            first = found[0]["where"][0]
            what = f"{count:,} lines of {name} look like {LOOKS[pattern]} that are read as words"
            lines.append(f"{what}, first at {first}. {TEXT_HINT}")
    if words := provenance.get("words", 0):
        share = provenance.get("split_words", 0) / words
        lines.append(split_warning(name, share, provenance.get("vocabulary", USUAL_VOCABULARY)))
    return [*filter(None, lines), *_repeated(entries, provenance), *_unknown(entries, provenance)]


def split_warning(name: str, share: float, vocabulary: int = USUAL_VOCABULARY) -> str:
    """What follows where a model splits this share of a corpus's words, from 0 to 1; "" where that is to be expected.

    Args:
        vocabulary: How many tokens the model has: with few it splits words of its own language, too.
    """
    is_small = vocabulary < SMALL_VOCABULARY
    if share <= (SPLIT_SHARE_OF_SMALL if is_small else SPLIT_SHARE):
        return ""
    expected = f"40% with its {vocabulary:,} tokens" if is_small else "8%"
    return (
        f"This model splits {share:.0%} of the words of {name} into pieces; of its own language it would split about "
        f"{expected}. If its vocabulary is that of another language, the numbers say little about these words."
    )


def _share(unit: str, entries: list[SkippedEntry], provenance: Provenance) -> str:
    """What was skipped of one unit, where it is more than a third; "" for less."""
    skipped = [entry for entry in entries if entry.get("unit") == unit]
    count = sum(entry["count"] for entry in skipped)
    total = count + provenance.get(unit, 0)
    if unit not in provenance or count <= LARGE_SHARE * total:
        return ""
    most = max(skipped, key=lambda entry: entry["count"])
    named = unit_name(unit)
    return (
        f"{count:,} of {total:,} {named} of {provenance['corpus']['name']} ({count / total:.0%}) were skipped: "
        f"the numbers are those of the rest. Most often: {most['reason'].removesuffix('.')}, first at "
        f"{most['where'][0].removesuffix('.')}. Correct the file and analyze it again."
    )


def _repeated(entries: list[SkippedEntry], provenance: Provenance) -> list[str]:
    unit = next((unit for unit in EXAMPLES if unit in provenance), "")
    repeated = sum(entry["count"] for entry in entries if entry["reason"] == REPEATED)
    if not unit or repeated <= REPEATED_SHARE * provenance[unit]:
        return []
    what = f"{repeated:,} of {provenance[unit]:,} {unit_name(unit)} of {provenance['corpus']['name']}"
    return [
        f"{what} ({repeated / provenance[unit]:.0%}) repeat an earlier one, and count as if they were different: "
        "intervals are too narrow, and numbers lean towards what repeats. Remove the repetitions."
    ]


def _unknown(entries: list[SkippedEntry], provenance: Provenance) -> list[str]:
    tokens = provenance.get("tokens", 0)
    unknown = sum(entry["count"] for entry in entries if entry["reason"] == UNKNOWN)
    if unknown <= UNKNOWN_SHARE * tokens or not tokens:
        return []
    return [
        f"{unknown:,} of {tokens:,} tokens ({unknown / tokens:.0%}) are not in this model's vocabulary and are read as "
        "[UNK]: the numbers say little about these words. Choose a model of this language."
    ]
