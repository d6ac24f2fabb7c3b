"""Sentences to start with: each is stored, and the model truly does there what its head is named for."""

import re

from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.inputs.encoding import maps_of_one
from bertviz_core.models.single_input import attention, from_text
from bertviz_core.overview.starts import COUNT, LENGTHS, starts
from bertviz_core.settings import Settings
from bertviz_core.text_display import join_words
from tests.support import shipped


def roles(results, head):
    return [role for name in results for role in ANALYSES[name].head_roles(results[name], head)]


def between_words(demo, sentence, head):
    """The words as the model reads the sentence, and the head's weights between them."""
    single = from_text(sentence, "", demo.tokens, Settings())
    maps = maps_of_one(attention(demo, single.example), single.layout.owner)
    return list(single.layout.words.labels), maps[head]


def test_the_head_is_on_in_each_of_three_sentences_as_it_is_read_there(demo):
    results = {name: shipped.result(name) for name in ("dependency_heads", "coreference_heads")}
    offered = starts(results)
    assert len(offered) == COUNT and len({each.head for each in offered}) == COUNT
    for start in offered:
        assert len(start.sentence) <= max(LENGTHS) and re.fullmatch(r"finds [a-z ]+ in \d+ of 100", start.summary)
        role = next(each for each in roles(results, start.head) if each.summary == start.summary)
        listed = [each for length in LENGTHS for each in role.examples(length)[:1]]
        example = next(each for each in listed if join_words(each.text.split()) == start.sentence)
        words, weights = between_words(demo, start.sentence, start.head)
        for note in example.notes:  # of relations: "✓ dobj: water ← use, 0.90"
            word, guess = re.fullmatch(r"✓ \S+: (\S+) ← (\S+), .*", note).groups()
            assert words[1 + weights[words.index(word.lower())][1:-1].argmax()] == guess.lower()
        if role.name == "coreference":
            pairs = re.findall(r"<title>([^<]+) → ([^<]+): ([\d.]+), right</title>", example.svg)
            assert max(float(weight) for *_, weight in pairs) > 0.3
            for mention, guessed, weight in pairs:
                heads = [words.index(text.lower().split()[-1]) for text in (mention, guessed)]
                assert float(weights[heads[0], heads[1]]) > 0.5 * float(weight)


def test_without_named_heads_there_is_nowhere_to_start():
    assert starts({"entropy": shipped.result("entropy")}) == []
