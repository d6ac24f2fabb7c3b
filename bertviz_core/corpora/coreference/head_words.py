"""The head word of a mention, and whether it is a pronoun, a proper name or a nominal (4.3).

With trees: the first of the mention's words whose governor lies outside it. With a bracketed parse and tags: where a
noun phrase spans just the mention, its head by Collins' rules (`phrase_heads`). Else the rule: the last word before
the first preposition, comma or relative pronoun that is not the mention's first word. These are

    prepositions       about above across after against along among around as at before behind below beneath beside
                       between beyond by despite down during except for from in inside into like near of off on onto
                       out outside over past since through throughout till to toward towards under until up upon via
                       with within without
    comma              ,
    relative pronouns  that which who whom whose where when

and marks without a letter or digit, and a possessive 's, are passed over at the end of what is left.
"""

from __future__ import annotations

from functools import lru_cache

from bertviz_core.corpora.coreference.agreement import PRONOUNS, word_list
from bertviz_core.corpora.coreference.documents import CoreferenceDocument, Mention
from bertviz_core.corpora.coreference.phrase_heads import noun_phrases, phrase_head

TYPES = ("pronoun", "proper", "nominal")
PREPOSITIONS = word_list(
    "about above across after against along among around as at before behind below beneath beside between beyond by "
    "despite down during except for from in inside into like near of off on onto out outside over past since through "
    "throughout till to toward towards under until up upon via with within without"
)
RELATIVES = word_list("that which who whom whose where when")
BREAKS = PREPOSITIONS | RELATIVES | {","}
POSSESSIVES = frozenset(("'s", "’s", "'", "’"))
PRONOUN_TAGS = frozenset(("PRP", "PRP$", "PRON"))
PROPER_TAGS = frozenset(("NNP", "NNPS", "PROPN"))


def head_words(document: CoreferenceDocument) -> tuple[int, ...]:
    """The head word of each mention, by its index among the document's words."""
    if document.governors is not None:
        return tuple(_by_tree(document.governors, document.words, mention) for mention in document.mentions)
    if document.parse is None or document.tags is None:
        return tuple(_by_rule(document.words, mention) for mention in document.mentions)
    phrases, tags = noun_phrases(document.parse), document.tags
    spans = ((phrases.get((mention.start, mention.end)), mention) for mention in document.mentions)
    return tuple(phrase_head(one, tags) if one else _by_rule(document.words, mention) for one, mention in spans)


def head_word_source(document: CoreferenceDocument) -> str:
    """ "trees", "parse" or "rule": what decides the document's head words, the rule where the first two say nothing."""
    if document.governors is not None:
        return "trees"
    return "rule" if document.parse is None or document.tags is None else "parse"


def mention_type(document: CoreferenceDocument, head: int) -> int:
    """The index in TYPES, by the head's tag; without tags by a closed list of pronouns and by capitals."""
    if document.tags is not None:
        tag = document.tags[head]
        return 0 if tag in PRONOUN_TAGS else 1 if tag in PROPER_TAGS else 2
    if document.words[head].lower() in PRONOUNS:
        return 0
    return 1 if document.words[head][:1].isupper() and head not in _starts(document.sentences) else 2


@lru_cache(maxsize=2)
def _starts(sentences: tuple[int, ...]) -> frozenset[int]:
    return frozenset(sentences)


def _by_tree(governors: tuple[int, ...], words: tuple[str, ...], mention: Mention) -> int:
    inside = range(mention.start, mention.end)
    return next((word for word in inside if governors[word] not in inside), _by_rule(words, mention))


def _by_rule(words: tuple[str, ...], mention: Mention) -> int:
    end = mention.end
    for word in range(mention.start + 1, mention.end):
        if words[word].lower() in BREAKS:
            end = word
            break
    for word in range(end - 1, mention.start, -1):
        if any(map(str.isalnum, words[word])) and words[word].lower() not in POSSESSIVES:
            return word
    return mention.start
