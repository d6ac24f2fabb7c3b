"""What the labels of treebanks mean: relations of Universal and of Stanford Dependencies, universal parts of speech."""

import re
from typing import NamedTuple

# labels: meaning | example, with the dependent in <> and its governor in []
_RELATIONS = """
abbrev: abbreviation of a name | the World Health [Organization] (<WHO>)
acl: clause that modifies a noun | the [house] <built> in 1900
acl:relcl, rcmod: relative clause | the [dog] that <barked>
acomp: adjective as complement | She [looks] <tired>
advcl: adverbial clause | He [left] when it <rained>
advmod: adverb | She [runs] <fast>
agent: agent of a passive, the word "by" | [written] <by> her
amod: adjective | a <red> [car]
appos: apposition | my [brother], <Sam>
attr: complement of "to be" | What [is] <that>?
aux: auxiliary | She <has> [gone]
aux:pass, auxpass: auxiliary of a passive | It <was> [sold]
case: preposition, postposition or case marker | sat <on> the [mat]
cc: conjunction | salt <and> [pepper]
cc:preconj, preconj: first part of a paired conjunction | <both> [Ann] and Tom
ccomp: clause as complement, with its own subject | He [says] that you <like> it
clf: classifier of a number, as in Chinese | [three] <sheets> of paper
complm: word that introduces a complement clause | He says <that> you [like] it
compound: part of a compound | the <phone> [book]
compound:prt, prt: particle of a verb | They [shut] it <down>
conj: conjoined word | [salt] and <pepper>
cop: copula | She <is> a [teacher]
csubj: clause as subject | What she <said> [makes] sense
csubj:pass, csubjpass: clause as subject of a passive | That she <lied> was [suspected]
dep: dependency of another kind | [unclear] <words>
det: determiner | <the> [dog]
det:predet, predet: word before the determiner | <all> the [dogs]
discourse: interjection or filler | <Well>, I [agree]
dislocated: fronted or postposed element | <Him>, I [like] him
dobj, obj: direct object | She [read] the <book>
expl: word without a role of its own, such as "there" | <There> [is] a ghost
fixed: part of a fixed expression | [because] <of> you
flat: part of a name or of a phrase without a head | [Barack] <Obama>
goeswith: rest of a word that was written apart | [with] <out>
infmod: infinitive that modifies a noun | a [point] to <make>
iobj: indirect object | She [gave] <me> a book
list: item of a list | [Name]: Ann, <Phone>: 555
mark: word that introduces a clause | <because> it [rained]
mwe: part of a fixed expression | as [well] <as>
neg: negation | She does <not> [know]
nmod: noun that modifies a noun | the [roof] of the <house>
nmod:poss, poss: possessor | <her> [book]
nn: noun in a compound | the <phone> [book]
npadvmod, obl:npmod: noun phrase as adverb | three <years> [old]
nsubj: subject | <She> [sleeps]
nsubj:outer: subject of a clause that is itself a copula's predicate | The <problem> is that it [failed]
nsubj:pass, nsubjpass: subject of a passive | <It> was [sold]
num, nummod: number | <three> [dogs]
number: part of a number | <two> [hundred]
obl: noun beside a verb, often with a preposition | He [sat] on the <mat>
obl:agent: agent of a passive | [written] by <her>
obl:tmod, tmod: noun of time as adverb | She [left] last <night>
obl:unmarked: noun beside a verb, without a preposition | She [left] last <night>
orphan: dependent of a word left out | She won gold, and [he] <silver>
parataxis: clause placed beside another | He [left], she <said>
partmod: participle that modifies a noun | the [house] <built> in 1900
pcomp: clause as complement of a preposition | tired [of] <waiting>
pobj: object of a preposition | sat [on] the <mat>
possessive: the possessive 's | [Anna] <'s> book
prep: preposition | He [sat] <on> the mat
punct: punctuation | She [sleeps] <.>
purpcl: clause of purpose | He [talked] to <win>
quantmod: modifier of a number | <about> [200] people
ref: relative word that refers to a noun | the [dog] <which> barked
rel: relative word | the man <whose> wife you [met]
reparandum: words that the speaker corrected | Go to the <right>, to the [left]
root: main word | She <sleeps>
vmod: verb form that modifies a noun | the [house] <built> in 1900
vocative: person addressed | <Ann>, [come] here
xcomp: complement clause without a subject of its own | She [wants] to <go>
xsubj: subject of a clause that has none of its own | <She> wants to [go]
"""
TAGS = {
    "ADJ": "adjective",
    "ADP": "pre- or postposition",
    "ADV": "adverb",
    "AUX": "auxiliary",
    "CCONJ": "coordinating conjunction",
    "DET": "determiner",
    "INTJ": "interjection",
    "NOUN": "noun",
    "NUM": "number",
    "PART": "particle",
    "PRON": "pronoun",
    "PROPN": "name",
    "PUNCT": "punctuation",
    "SCONJ": "subordinating conjunction",
    "SYM": "symbol",
    "VERB": "verb",
    "X": "other",
}


class Entry(NamedTuple):
    """A relation's meaning, and an example with the dependent in <> and its governor in []."""

    meaning: str
    example: str = ""

    def marked(self, dependent: str, governor: str) -> str:
        """The example with both words marked by templates, such as "**{}**"."""
        text = re.sub(r"<([^>]*)>", dependent.format(r"\1"), self.example)
        return re.sub(r"\[([^]]*)\]", governor.format(r"\1"), text)


RELATIONS = {"all": Entry("all words"), "UAS": Entry("without punctuation")}
for _line in _RELATIONS.strip().splitlines():
    _labels, _entry = _line.split(": ", 1)
    RELATIONS |= dict.fromkeys(_labels.split(", "), Entry(*_entry.split(" | ")))


def meaning(label: str) -> str:
    """What a relation is, for a subtype without an entry (`obl:lmod`) its relation, or a universal part of speech;
    empty where that is not known."""
    known = RELATIONS.get(label) or RELATIONS.get(label.split(":", maxsplit=1)[0])
    return known.meaning if known else TAGS.get(label, "")


def explained(label: str, dependent: str = "{}", governor: str = "{}") -> str:
    """A relation's meaning with its example, in which templates such as "**{}**" mark both words; empty where it is not
    known."""
    known = RELATIONS.get(label) or RELATIONS.get(label.split(":", maxsplit=1)[0])
    example = f", as in: {known.marked(dependent, governor)}" if known and known.example else ""
    return meaning(label) + example
