"""Prefix matching of GPT-2 small and Pythia-160m beside values that others have published for their induction heads
(bertviz_core/assets/published.toml).

Run it where the hub can be reached, or where the models are on this machine: they are downloaded (0.5 and 0.4 GB).
Published values are of repeated random tokens after a BOS token; here sequences are as long as the maximum length
allows and begin as the tokenizer has it, GPT-2's without BOS. So they agree only about.
"""

import argparse

import bertviz_core as bv
from bertviz_core.errors import BertvizError
from bertviz_core.published import published_heads

ABOUT = 0.1  # the largest difference that is called agreement
MODELS = ("openai-community/gpt2", "EleutherAI/pythia-160m")


def rows(model: str) -> list[str]:
    """A row of the table for each published value of a model; raises BertvizError where it cannot be opened."""
    result = bv.analyze("induction", model=model)
    found = []
    for each in published_heads(result.provenance["model"]):
        if each.quantity == "induction.prefix" and each.value is not None:
            here, control = float(result["prefix"][each.head]), float(result["prefix_control"][each.head])
            agreement = "about equal" if abs(here - each.value) <= ABOUT else "differs"
            label = each.head.key()
            found.append(f"| {model} | {label} | {each.value:.3f} | {here:.3f} | {control:.3f} | {agreement} |")
    return found


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    print("| model | head, from 1 | published | here | without repetition | |\n| --- | --- | --- | --- | --- | --- |")
    try:
        for model in MODELS:
            print("\n".join(rows(model)), flush=True)
    except BertvizError as error:
        raise SystemExit(f"The comparison ends here, as {model} cannot be opened: {error}") from None


if __name__ == "__main__":
    main()
