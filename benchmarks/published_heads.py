"""Prefix matching of GPT-2 small and Pythia-160m beside values that others have published for their induction heads.

Run it where the hub can be reached, or where the models are on this machine: they are downloaded (0.5 and 0.4 GB).
Published values are of repeated random tokens after a BOS token; here sequences are as long as the maximum length
allows and begin as the tokenizer has it, GPT-2's without BOS. So they agree only about.
"""

import argparse
from dataclasses import dataclass

import bertviz_core as bv
from bertviz_core.errors import BertvizError
from bertviz_core.heads import Head

ABOUT = 0.1  # the largest difference that is called agreement


@dataclass(frozen=True)
class Published:
    """A head's prefix matching as published; layer and head count from 0.

    Attributes:
        model: The model's name on the hub.
        layer: The layer.
        head: The head of the layer.
        score: Its prefix matching, 0 to 1.
    """

    model: str
    layer: int
    head: int
    score: float


PUBLISHED = (
    Published("openai-community/gpt2", 5, 5, 0.93),
    Published("openai-community/gpt2", 6, 9, 0.91),
    Published("openai-community/gpt2", 7, 10, 0.91),
    Published("openai-community/gpt2", 5, 1, 0.91),
    Published("EleutherAI/pythia-160m", 4, 6, 0.99),
)


def rows(model: str) -> list[str]:
    """A row of the table for each published head of a model; raises BertvizError where it cannot be opened."""
    result = bv.analyze("induction", model=model)
    found = []
    for each in PUBLISHED:
        if each.model == model:
            here = float(result["prefix"][each.layer, each.head])
            control = float(result["prefix_control"][each.layer, each.head])
            agreement = "about equal" if abs(here - each.score) <= ABOUT else "differs"
            label = Head(each.layer, each.head).key()
            found.append(f"| {model} | {label} | {each.score:.2f} | {here:.2f} | {control:.2f} | {agreement} |")
    return found


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    models = dict.fromkeys(each.model for each in PUBLISHED)
    print("| model | head, from 1 | published | here | without repetition | |\n| --- | --- | --- | --- | --- | --- |")
    try:
        for model in models:
            print("\n".join(rows(model)), flush=True)
    except BertvizError as error:
        raise SystemExit(f"The comparison ends here, as {model} cannot be opened: {error}") from None


if __name__ == "__main__":
    main()
