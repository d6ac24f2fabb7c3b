"""Induction: do heads continue a repeated sequence? (beyond the paper; docs/methods.md, section 15)."""

from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.induction.figure import paper_figure
from bertviz_core.analyses.induction.findings import STATEMENTS
from bertviz_core.analyses.induction.result import COLUMNS, Induction
from bertviz_core.models.random_sequences import INPUTS


class InductionAnalysis(Analysis):
    """Attention within repeated sequences of random tokens."""

    name = "induction"
    title = "Induction heads"
    summary = (
        "Attention within repeated sequences of random tokens: to what followed a token's first occurrence, to that "
        "occurrence, and to the previous token."
    )
    section = "Does a head continue a repeated sequence?"
    icon = ":material/repeat:"
    result_class = Induction
    corpus = "random"
    columns = COLUMNS
    statements = STATEMENTS
    main_figure = staticmethod(paper_figure)
    formula = (
        r"\frac{1}{n}\sum_{i=n+1}^{2n} A_{i,\,i-n+1} \qquad \frac{1}{n}\sum_{i=n+1}^{2n} A_{i,\,i-n} \qquad"
        r"\frac{1}{n}\sum_{i=n+1}^{2n} A_{i,\,i-1}"
    )
    limit = INPUTS
