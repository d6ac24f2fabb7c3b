"""Write the sample of minimal pairs that ships, from words and templates.

    python -m training.sample_pairs

Of each phenomenon there are ten templates of four pairs. In two of the four the singular is right, in the other two the
plural: who always prefers one form is right in half of the pairs.
"""

import random
from collections.abc import Iterator
from typing import NamedTuple

from bertviz_core.corpora.files import FOLDER

PER_TEMPLATE = 4
NOUNS = {  # singular -> plural
    "teacher": "teachers", "doctor": "doctors", "farmer": "farmers", "writer": "writers", "king": "kings",
    "student": "students", "artist": "artists", "soldier": "soldiers", "worker": "workers", "sister": "sisters",
    "friend": "friends", "singer": "singers", "girl": "girls", "boy": "boys", "player": "players",
    "judge": "judges", "lawyer": "lawyers", "driver": "drivers", "captain": "captains", "guest": "guests",
}  # fmt: skip
THINGS = {
    "house": "houses", "book": "books", "bridge": "bridges", "ship": "ships", "garden": "gardens",
    "river": "rivers", "song": "songs", "picture": "pictures", "letter": "letters", "tower": "towers",
    "road": "roads", "train": "trains", "church": "churches", "table": "tables", "machine": "machines",
    "window": "windows", "story": "stories", "island": "islands", "box": "boxes", "horse": "horses",
}  # fmt: skip
GROUPS = {
    "company": "companies", "city": "cities", "team": "teams", "state": "states", "party": "parties",
    "country": "countries", "army": "armies", "family": "families", "school": "schools", "band": "bands",
}  # fmt: skip
VERBS = {"is": "are", "was": "were", "has": "have", "works": "work", "lives": "live"}
ADJECTIVES = ("old", "small", "large", "new", "famous", "beautiful", "dark", "heavy", "local", "strange")


class Template(NamedTuple):
    """A frame of sentences.

    Attributes:
        text: With {subject} and what agrees with it: {verb}, {noun} or {self}; {other} is a second noun, of the other
            number, {adjective} an adjective.
        verb: The verb in the singular, where there is one.
    """

    text: str
    verb: str = ""


VERB = (
    Template("The {subject} {verb} here today.", "is"),
    Template("The {subject} {verb} in the city.", "was"),
    Template("The {subject} {verb} a small house.", "has"),
    Template("The {subject} {verb} in the village.", "lives"),
    Template("The {subject} {verb} for the company.", "works"),
    Template("Last year the {subject} {verb} very happy.", "was"),
    Template("In the morning the {subject} {verb} at home.", "is"),
    Template("The {subject} never {verb} at night.", "works"),
    Template("We know that the {subject} {verb} ready.", "is"),
    Template("Some people say the {subject} {verb} no money.", "has"),
)
DISTRACTOR = (
    Template("The {subject} near the {other} {verb} here today.", "is"),
    Template("The {subject} behind the {other} {verb} very old.", "was"),
    Template("The {subject} with the {other} {verb} no money.", "has"),
    Template("The {subject} next to the {other} {verb} in the city.", "lives"),
    Template("The {subject} beside the {other} {verb} for the company.", "works"),
    Template("Last year the {subject} from the {other} {verb} very happy.", "was"),
    Template("We know that the {subject} in front of the {other} {verb} ready.", "is"),
    Template("The {subject} by the {other} {verb} a small house.", "has"),
    Template("In the morning the {subject} near the {other} {verb} at home.", "is"),
    Template("Every day the {subject} behind the {other} {verb} at the station.", "works"),
)
CLAUSE = (
    Template("The {subject} that the {person} saw {verb} here today.", "is"),
    Template("The {subject} who helped the {person} {verb} very happy.", "was"),
    Template("The {subject} that the {person} knew {verb} no money.", "has"),
    Template("The {subject} who met the {person} {verb} in the city.", "lives"),
    Template("The {subject} that the {person} liked {verb} for the company.", "works"),
    Template("The {subject} who left the {person} {verb} at home.", "is"),
    Template("The {subject} that the {person} found {verb} very old.", "was"),
    Template("The {subject} who called the {person} {verb} a small house.", "has"),
    Template("We know that the {subject} who saw the {person} {verb} ready.", "is"),
    Template("Every day the {subject} that the {person} heard {verb} at the station.", "works"),
)
DETERMINER = (
    Template("They found {this} {noun} in the city."),
    Template("She bought {this} {noun} last year."),
    Template("He looked at {this} {noun} for a long time."),
    Template("We talked about {this} {noun} yesterday."),
    Template("I remember {this} {noun} very well."),
    Template("Nobody saw {that} {noun} in the morning."),
    Template("They painted {that} {noun} in the summer."),
    Template("The man sold {that} {noun} to his friend."),
    Template("People like {that} {noun} near the river."),
    Template("She wrote about {that} {noun} in her letters."),
)
ADJECTIVE = tuple(Template(each.text.replace("{noun}", "{adjective} {noun}")) for each in DETERMINER)
REFLEXIVE = (
    Template("The {group} hurt {self} that year."),
    Template("The {group} called {self} free."),
    Template("The {group} saved {self} in the end."),
    Template("The {group} asked {self} what to do."),
    Template("The {group} found {self} in great danger."),
    Template("Last year the {group} changed {self} again."),
    Template("We know that the {group} defended {self} well."),
    Template("In the war the {group} destroyed {self} slowly."),
    Template("They say the {group} gave {self} a new name."),
    Template("Every day the {group} prepared {self} for the worst."),
)
PHENOMENA = {
    "verb agreement": VERB,
    "verb agreement past a distractor": DISTRACTOR,
    "verb agreement past a clause": CLAUSE,
    "determiner agreement": DETERMINER,
    "determiner agreement past an adjective": ADJECTIVE,
    "reflexive agreement": REFLEXIVE,
}


def pair(template: Template, draw: random.Random, *, plural: bool) -> tuple[str, str]:
    """The grammatical sentence of a template with words that are drawn, and the other one."""
    subject, person = draw.sample(list(NOUNS.items()), 2)
    thing, other = draw.sample(list(THINGS.items()), 2)
    words = {
        "subject": subject[plural],
        "person": person[not plural],
        "other": other[not plural],
        "group": draw.choice(list(GROUPS.items()))[plural],
        "adjective": draw.choice(ADJECTIVES),
        "this": ("this", "these")[plural],
        "that": ("that", "those")[plural],
    }
    good, bad = (
        {
            "verb": (template.verb, VERBS.get(template.verb, ""))[number],
            "noun": thing[number],
            "self": ("itself", "themselves")[number],
        }
        for number in (plural, not plural)
    )
    return template.text.format(**words, **good), template.text.format(**words, **bad)


def rows() -> Iterator[tuple[str, str, str, str]]:
    """(good, bad, phenomenon, template) of every pair."""
    draw = random.Random(0)
    seen = set[tuple[str, str]]()
    for phenomenon, templates in PHENOMENA.items():
        for template in templates:
            for number in range(PER_TEMPLATE):
                while (drawn := pair(template, draw, plural=bool(number % 2))) in seen:
                    pass
                seen.add(drawn)
                yield *drawn, phenomenon, template.text


def main() -> None:
    lines = ["good\tbad\tphenomenon\ttemplate", *map("\t".join, rows())]
    (FOLDER / "pairs.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines) - 1} pairs")


if __name__ == "__main__":
    main()
