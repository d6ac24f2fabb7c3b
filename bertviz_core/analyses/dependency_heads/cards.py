"""The key numbers of the page of dependency heads."""

from bertviz_core.analyses.base.blocks import Card
from bertviz_core.analyses.dependency_heads.guesses import DIRECTIONS, offset_name
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.corpora.treebank import meaning
from bertviz_core.heads import DirectedHead, arrow
from bertviz_core.plotting import percent


def numbers_title(relation: str, choice: DirectedHead) -> str:
    """The heading of the key numbers of a relation in a direction."""
    named = f"{relation} ({meaning(relation)})" if meaning(relation) else relation
    return f"Numbers: {named}, {arrow(DIRECTIONS[choice.direction])}"


def cards(counts: RelationCounts, relation: str, choice: DirectedHead) -> list[Card]:
    """The best head of a direction on a relation, the best fixed offset and the chosen head, beside the paper's."""
    directed = counts.in_direction(choice.direction)
    row = directed.row(relation)
    n = int(row["n"])
    column = counts.relations.index(relation)
    n_read = int(counts.counted.sum(0)[choice.direction, column])
    accuracy = counts.accuracy[:, column]
    low, high = (percent(float(end[choice.direction, column][choice.head]), n_read) for end in counts.intervals())
    of_best = of_offset = "not in the paper" if counts.in_paper else ""
    if counts.is_causal:
        of_best = f"of {n:,}"
        of_offset = f"random word: {percent(row['random_accuracy'], n)}"
    elif values := counts.in_paper.get(relation):
        of_best = f"paper: {values[1]} ({values[0]})"
        of_offset = f"paper: {values[2]} ({values[3]:+d})"
    best_of_both = counts.best_choice(relation)
    if directed.best_choice(relation) != best_of_both:
        number = percent(float(accuracy[best_of_both.at]), int(counts.best_n[column]))
        of_best = f"of both directions: {best_of_both.head.label()}, {number}"
    offset = f"Best fixed offset, {offset_name(row['baseline_offset'])}"
    entries = [
        ("Best head", percent(row["accuracy"], n), of_best),
        ("Best head, held out", percent(row["heldout_accuracy"], n), "selected on the other half"),
        (offset, percent(row["baseline_accuracy"], n), of_offset),
        (f"Chosen head {choice.head.label()}", percent(float(accuracy[choice.at]), n_read), f"{low} to {high}"),
    ]
    if counts.is_causal:
        words = int(row["n_of_all_words"])
        entries.insert(1, ("Best head, of all words", percent(row["accuracy_of_all_words"], words), f"of {words:,}"))
    return entries
