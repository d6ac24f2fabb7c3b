"""Write the sample of minimal pairs that ships, from words and templates.

    python -m training.sample_pairs

Of each phenomenon there are twenty templates of two pairs. In one of the two the singular is right, in the other the
plural: who always prefers one form is right in half of the pairs.
"""

import random
from collections.abc import Iterator
from typing import NamedTuple

from bertviz_core.corpora.files import FOLDER

PER_TEMPLATE = 2
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
    Template("In this book the {subject} {verb} very young.", "is"),
    Template("After the war the {subject} {verb} rich.", "was"),
    Template("The {subject} often {verb} in this room.", "works"),
    Template("The old {subject} {verb} alone.", "lives"),
    Template("She thinks the {subject} {verb} right.", "is"),
    Template("At that time the {subject} {verb} in the army.", "was"),
    Template("The {subject} {verb} many good ideas.", "has"),
    Template("Near the lake the {subject} {verb} a boat.", "has"),
    Template("The {subject} {verb} from the north.", "is"),
    Template("For two years the {subject} {verb} in prison.", "was"),
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
    Template("The {subject} inside the {other} {verb} very young.", "is"),
    Template("After the war the {subject} of the {other} {verb} rich.", "was"),
    Template("The {subject} behind the old {other} {verb} alone.", "lives"),
    Template("She thinks the {subject} near the {other} {verb} right.", "is"),
    Template("At that time the {subject} by the {other} {verb} in the army.", "was"),
    Template("The {subject} with the new {other} {verb} many good ideas.", "has"),
    Template("The {subject} in front of the {other} {verb} a boat.", "has"),
    Template("The {subject} from the {other} {verb} here often.", "works"),
    Template("The {subject} beside the small {other} {verb} from the north.", "is"),
    Template("For two years the {subject} next to the {other} {verb} in prison.", "was"),
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
    Template("The {subject} who followed the {person} {verb} very young.", "is"),
    Template("After the war the {subject} that the {person} saved {verb} rich.", "was"),
    Template("The {subject} who loved the {person} {verb} alone.", "lives"),
    Template("She thinks the {subject} that the {person} met {verb} right.", "is"),
    Template("At that time the {subject} who knew the {person} {verb} in the army.", "was"),
    Template("The {subject} that the {person} called {verb} many good ideas.", "has"),
    Template("The {subject} who paid the {person} {verb} a boat.", "has"),
    Template("The {subject} that the {person} helped {verb} here often.", "works"),
    Template("The {subject} who taught the {person} {verb} from the north.", "is"),
    Template("For two years the {subject} that the {person} left {verb} in prison.", "was"),
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
    Template("After the war they lost {this} {noun}."),
    Template("We can see {this} {noun} from here."),
    Template("The king gave {this} {noun} to his son."),
    Template("My father built {this} {noun} by hand."),
    Template("You should not touch {this} {noun} again."),
    Template("The girl drew {that} {noun} on paper."),
    Template("He never forgot {that} {noun} of his youth."),
    Template("The children found {that} {noun} by chance."),
    Template("An artist made {that} {noun} for the queen."),
    Template("In the evening we left {that} {noun} behind."),
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
    Template("The {group} kept {self} alive."),
    Template("The {group} made {self} ready for war."),
    Template("The {group} sold {self} for money."),
    Template("The {group} divided {self} into two parts."),
    Template("After that the {group} protected {self} better."),
    Template("The {group} described {self} as modern."),
    Template("In the end the {group} blamed {self} for everything."),
    Template("The {group} considered {self} very strong."),
    Template("Many say the {group} lost {self} in the past."),
    Template("For years the {group} ruled {self} without help."),
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
