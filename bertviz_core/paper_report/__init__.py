"""The report: the results of all analyses on a model, beside the paper's."""
