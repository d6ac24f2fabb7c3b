"""Universal Dependencies read with function words as governors, as in the paper's Stanford labels.

A nominal n with a dependent adposition c (relation `case`, c before n, no possessive 's) is reattached: c takes n's
governor with relation `prep`, and n depends on c as `pobj`. "He sat on the old mat":

    case(mat, on), obl(sat, mat)   ->   prep(sat, on), pobj(on, mat)

and `the` and `old` stay under `mat`. With several such adpositions the first carries n and the others stay under n. A
nominal that is the root keeps its place. Parts joined by `fixed` stay with their first word, conjuncts of n under n.

Definitions: docs/methods.md, section 6.
"""

from __future__ import annotations

from dataclasses import replace

from bertviz_core.corpora.treebank.trees import Sentence

POSSESSIVES = ("'s", "s'", "'", "’s", "s’", "’")
RENAMED = {
    "obj": "dobj",
    "compound": "nn",
    "nmod:poss": "poss",
    "aux:pass": "auxpass",
    "nsubj:pass": "nsubjpass",
    "compound:prt": "prt",
}


def function_heads(sentence: Sentence) -> Sentence:
    """The sentence with function words as governors."""
    governors = list(sentence.governors)
    relations = [RENAMED.get(relation, relation) for relation in sentence.relations]
    for nominal, adposition in _carried(sentence).items():
        governors[adposition - 1], relations[adposition - 1] = sentence.governors[nominal - 1], "prep"
        governors[nominal - 1], relations[nominal - 1] = adposition, "pobj"
    return replace(sentence, governors=tuple(governors), relations=tuple(relations))


def _carried(sentence: Sentence) -> dict[int, int]:
    """nominal -> the adposition that will carry it, both counted from 1."""
    carried: dict[int, int] = {}
    words = zip(sentence.words, sentence.governors, sentence.relations, strict=True)
    for index, (word, governor, relation) in enumerate(words, start=1):
        adposition = relation.split(":")[0] == "case" and word.lower() not in POSSESSIVES
        if adposition and index < governor and sentence.governors[governor - 1]:
            carried.setdefault(governor, index)
    return carried
