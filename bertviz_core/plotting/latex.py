"""Tables as LaTeX (booktabs)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

ESCAPES = str.maketrans(
    {c: f"\\{c}" for c in "&%$#_{}"}
    | {c: f"${c}$" for c in "<>|"}  # other signs in LaTeX's default font encoding
    | {"\\": r"\textbackslash{}", "~": r"\~{}", "^": r"\^{}"}
)


def escaped(text: object) -> str:
    """Escape a text for LaTeX."""
    return str(text).translate(ESCAPES).replace("-$>$", r" $\to$ ")


def tabular(columns: str, header: Sequence[str], rows: Iterable[Sequence[object]], note: str = "") -> str:
    """A whole LaTeX tabular.

    Args:
        columns: Alignment of the columns, as "lrr".
        header: Header of each column, as LaTeX.
        rows: Cells, as LaTeX.
        note: A last line over all columns.
    """
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", " & ".join(header) + r" \\", r"\midrule"]
    lines += [" & ".join(map(str, row)) + r" \\" for row in rows]
    lines += [r"\midrule", rf"\multicolumn{{{len(header)}}}{{l}}{{{note}}} \\"] if note else []
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])
