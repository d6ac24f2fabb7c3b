"""Minimal pairs from a treebank with features: a sentence in which a verb agrees with its subject, and the same with
the verb's form in the other number, which the treebank has elsewhere (docs/methods.md, section 19)."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from bertviz_core.corpora import Skipped
from bertviz_core.corpora.annotated import Treebank
from bertviz_core.corpora.format_sampling import Survey
from bertviz_core.corpora.treebank import conll
from bertviz_core.corpora.treebank.features import (
    FEATS,
    FORM,
    LEMMA,
    RELATION,
    TAG,
    FeatureWord,
    features_of,
    words_and_text,
)

OTHER = {"Sing": "Plur", "Plur": "Sing"}
VERBS = ("VERB", "AUX")
NOMINALS = ("NOUN", "PROPN", "PRON", "DET", "NUM", "ADJ")
DISTRACTORS = ("NOUN", "PROPN", "PRON")
SUBJECTS = ("nsubj", "csubj")
HELPERS = ("aux", "cop")
EXPLETIVES = ("expl", "expl:subj")
SUBORDINATE = ("advcl", "ccomp")
UNSOUND = {"Typo", "Foreign", "Abbr", "Style"}  # features of words that are no evidence of a form
FREE = ("Person", "Gender", "Animacy")  # features that forms of both numbers may lack
UNUSUAL = re.compile(r"[\d\s'’]")  # what no form has that stands in for another
RARE = 10  # times as often as in its own number a form in the other one occurs, where the former is no evidence
FAR = 3  # words between subject and verb that are a distance
MAX_FORMS = 300_000  # forms of words that are kept of a treebank

NEAR = "verb agreement"
DISTANT = "verb agreement at a distance"
DISTRACTED = "verb agreement past a distractor"

UNIT = "subjects"
NO_SUBJECT_NUMBER = "a subject without number, as “who”"
COORDINATED = "a coordinated subject"
SEVERAL = "a clause of two subjects"
EXPLETIVE = "a clause with an expletive, as “there”"
NO_VERB_NUMBER = "a verb without number, as “will”"
UNEQUAL = "a subject and a verb of different number"
AMBIGUOUS = "a subject whose form has both numbers, as “sheep”"
ODD = "a verb that is misspelled, foreign, or has no lemma"
JOINED = "a verb that is written as a part of another word"
SAME = "a verb with one form for both numbers"
MISSING = "a verb whose form in the other number is not in the treebank"
POSSIBLE = "a verb whose form in the other number may be right, as “put” for “puts”"
FORGOTTEN = f"a form beyond the first {MAX_FORMS:,}, which is not kept"


class AgreementPair(NamedTuple):
    """A sentence of a treebank, and the same with a verb in the other number.

    Attributes:
        line: The line of the verb.
        sentence: The index of its sentence in the file, broken ones counted.
        document: How many documents of the file end before it.
        good: The text of the treebank.
        bad: The same with the verb in the other number.
        phenomenon: NEAR, DISTANT or DISTRACTED.
    """

    line: int
    sentence: int
    document: int
    good: str
    bad: str
    phenomenon: str


class _NoPair(Exception):
    """A subject that gives no pair; its argument is the reason."""


def recognize(found: Survey) -> bool:
    """Whether a file is CoNLL-U whose subjects and verbs have Number."""
    if not conll.is_ten(found):
        return False
    rows = [text.split("\t") for text in found.texts if conll.is_row(text)]
    numbered = [cells for cells in rows if "Number=" in cells[FEATS]]
    has_subjects = any(cells[RELATION].partition(":")[0] == "nsubj" for cells in numbered)
    return has_subjects and any(cells[TAG] in VERBS for cells in numbered)


def agreement_pairs(treebank: Treebank, skipped: Skipped) -> Iterator[AgreementPair]:
    """The pair of every subject, in order; sentences that are no trees, and subjects that give no pair, are counted.

    The treebank is read twice, first for its forms.
    """
    forms = Forms()
    for line, row in treebank.source.lines():
        forms.add(line, row, skipped)
    for sentence, block in treebank.sentences_with_lines(skipped):
        if not any(map(is_subject, sentence.relations)):
            continue
        words, text = words_and_text(block)
        for place, word in enumerate(words):
            if is_subject(word.relation):
                try:
                    verb = _verb(words, place)
                    bad = _other_text(text, words, word, verb, forms)
                except _NoPair as problem:
                    skipped.add(str(problem), f"line {word.line}", unit=UNIT)
                    continue
                phenomenon = _phenomenon(words, place, words.index(verb))
                yield AgreementPair(verb.line, sentence.number, sentence.document, text, bad, phenomenon)


def is_subject(relation: str) -> bool:
    """Whether a relation is that of a nominal subject."""
    return relation.partition(":")[0] == "nsubj"


def _verb(words: Sequence[FeatureWord], place: int) -> FeatureWord:
    """The word that agrees with a subject: the finite auxiliary or copula of its governor, else the governor."""
    subject = words[place]
    siblings = [word for word in words if word.governor == subject.governor]
    if sum(word.relation.partition(":")[0] in SUBJECTS for word in siblings) > 1:
        raise _NoPair(SEVERAL)
    if any(word.relation in EXPLETIVES for word in siblings):
        raise _NoPair(EXPLETIVE)
    if any(word.governor == place + 1 and word.relation == "conj" for word in words):
        raise _NoPair(COORDINATED)
    number = subject.features.get("Number")
    if number not in OTHER:
        raise _NoPair(NO_SUBJECT_NUMBER)
    helpers = (word for word in siblings if word.relation.partition(":")[0] in HELPERS)
    finite = (word for word in helpers if word.features.get("VerbForm", "Fin") == "Fin")
    verb = next(finite, words[subject.governor - 1])
    if verb.tag not in VERBS or verb.features.get("Number") not in OTHER:
        raise _NoPair(NO_VERB_NUMBER)
    if verb.features["Number"] != number:
        raise _NoPair(UNEQUAL)
    return verb


def _other_text(
    text: str, words: Sequence[FeatureWord], subject: FeatureWord, verb: FeatureWord, forms: "Forms"
) -> str:
    """The text with the verb in the other number, cased as it is."""
    start, end = verb.span or (0, 0)
    before = text[:start][-1:]
    if not verb.span or before.isalnum() or before in ("'", "’"):
        raise _NoPair(JOINED)
    if forms.has_both_numbers(subject):
        raise _NoPair(AMBIGUOUS)
    clause = words[subject.governor - 1].relation.partition(":")[0]
    form = forms.other(verb, is_subordinate=clause in SUBORDINATE)
    if len(verb.form) > 1 and verb.form.isupper():
        form = form.upper()
    elif verb.form[:1].isupper():
        form = form[:1].upper() + form[1:]
    return text[:start] + form + text[end:]


def _phenomenon(words: Sequence[FeatureWord], subject: int, verb: int) -> str:
    """What the agreement of a subject and a verb, each by its place, is a case of."""
    between = words[min(subject, verb) + 1 : max(subject, verb)]
    other = OTHER[words[subject].features["Number"]]
    if any(word.tag in DISTRACTORS and word.features.get("Number") == other for word in between):
        return DISTRACTED
    return DISTANT if len(between) >= FAR else NEAR


Features = tuple[tuple[str, str], ...]  # names and values, in order


@dataclass
class Forms:
    """The forms of a treebank's words by number, in lower case, at most MAX_FORMS of them.

    Attributes:
        count: How many are kept.
        verbs: From a verb's lemma and its features, but for FREE and Number, to how often each form occurs by number
            and FREE features.
        uses: From a verb's lemma and form to how often it occurs by number, mood and FREE features.
        nominals: From the form and the case of a nominal to the numbers that it occurs in.
    """

    count: int = 0
    verbs: dict[tuple[str, Features], dict[tuple[str, Features], Counter[str]]] = field(default_factory=dict)
    uses: dict[tuple[str, str], Counter[tuple[str, str, Features]]] = field(default_factory=dict)
    nominals: dict[tuple[str, str], set[str]] = field(default_factory=dict)

    def add(self, line: int, row: str, skipped: Skipped) -> None:
        """Note the form in a row, where it has a number; one that is too many is counted."""
        cells = row.split("\t")
        if len(cells) <= FEATS or "Number=" not in cells[FEATS]:
            return
        form, lemma, tag = (cells[column].strip() for column in (FORM, LEMMA, TAG))
        features = features_of(cells[FEATS].strip())
        number = features.get("Number", "")
        if number not in OTHER or not _is_sound(features):
            return
        if self.count >= MAX_FORMS:
            skipped.add(FORGOTTEN, f"line {line}")
        elif tag in NOMINALS:
            numbers = self.nominals.setdefault(_nominal(form, features), set())
            self.count += not numbers
            numbers.add(number)
        elif tag in VERBS and lemma != "_" and not UNUSUAL.search(form):
            self._add_verb(form.lower(), lemma, number, features)

    def _add_verb(self, form: str, lemma: str, number: str, features: Mapping[str, str]) -> None:
        fixed, free = _divided(features)
        self.verbs.setdefault((lemma, fixed), {}).setdefault((number, free), Counter())[form] += 1
        uses = self.uses.setdefault((lemma, form), Counter())
        self.count += not uses
        uses[number, features.get("Mood", ""), free] += 1

    def has_both_numbers(self, nominal: FeatureWord) -> bool:
        """Whether the form of a nominal occurs in the singular and in the plural of its case."""
        return len(self.nominals.get(_nominal(nominal.form, nominal.features), ())) > 1

    def other(self, verb: FeatureWord, *, is_subordinate: bool) -> str:
        """The most frequent form of a verb in the other number with otherwise equal features.

        Raises:
            _NoPair: There is none, or it may be right in place of the verb.
        """
        if verb.lemma == "_" or not _is_sound(verb.features):
            raise _NoPair(ODD)
        number = verb.features["Number"]
        fixed, free = _divided(verb.features)
        candidates = [
            (len(set(free) & set(others)), count, form)
            for (each, others), forms in self.verbs.get((verb.lemma, fixed), {}).items()
            if each == OTHER[number] and _agree(free, others)
            for form, count in forms.items()
        ]
        if not candidates:
            raise _NoPair(MISSING)
        _, count, form = max(candidates)
        if form == verb.form.lower():
            raise _NoPair(SAME)
        for (each, mood, others), uses in self.uses[verb.lemma, form].items():
            # Beside “if I was” there is “if I were”: rare, and a main clause has no such choice.
            is_possible = is_subordinate if mood == "Sub" else RARE * uses >= count
            if each == number and _agree(free, others) and is_possible:
                raise _NoPair(POSSIBLE)
        return form


def _is_sound(features: Mapping[str, str]) -> bool:
    return UNSOUND.isdisjoint(features)


def _nominal(form: str, features: Mapping[str, str]) -> tuple[str, str]:
    return form.lower(), features.get("Case", "")


def _divided(features: Mapping[str, str]) -> tuple[Features, Features]:
    """A verb's features without Number: those that its forms in both numbers share, and those of FREE."""
    named = sorted(features.items())
    fixed = tuple(pair for pair in named if pair[0] not in ("Number", *FREE))
    return fixed, tuple(pair for pair in named if pair[0] in FREE)


def _agree(ours: Features, theirs: Features) -> bool:
    """Whether features are equal where both have them."""
    other = dict(theirs)
    return all(other.get(name, value) == value for name, value in ours)
