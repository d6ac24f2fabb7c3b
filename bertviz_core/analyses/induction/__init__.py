"""Induction: do heads look for what followed the last time? (beyond the paper; docs/methods.md, section 15)."""

from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.head_column import averaged_column
from bertviz_core.models.random_sequences import INPUTS
from bertviz_core.plotting.palette import BROAD, PREVIOUS, SEP

KINDS = {  # quantity -> its words, name and marker
    "prefix": ("to the token after the first occurrence", "prefix matching", SEP),
    "duplicate": ("to the first occurrence of the same token", "duplicate token", BROAD),
    "previous": ("to the previous token", "previous token", PREVIOUS),
}
CONTROL = "{}_control"  # the same places in sequences that repeat nothing

ANALYSIS = Analysis(
    name="induction",
    package=__name__,
    title="Induction heads",
    summary="Attention within repeated sequences of random tokens: to what followed a token's first occurrence, to "
    "that occurrence, and to the previous token.",
    section="Does a head continue what it has seen?",
    icon=":material/repeat:",
    result="Induction",
    corpus="random",
    columns=(
        *(averaged_column(name, label, name=short, marker=marker, maximum=1.0)
          for name, (label, short, marker) in KINDS.items()),
        *(averaged_column(CONTROL.format(name), f"{label}, if nothing is repeated", name=f"{short}, control",
                          marker=marker, maximum=1.0, overview=False)
          for name, (label, short, marker) in KINDS.items()),
    ),
    formula=r"\frac{1}{n}\sum_{i=n+1}^{2n} A_{i,\,i-n+1} \qquad \frac{1}{n}\sum_{i=n+1}^{2n} A_{i,\,i-n} \qquad"
    r"\frac{1}{n}\sum_{i=n+1}^{2n} A_{i,\,i-1}",
    limit=INPUTS,
)  # fmt: skip
