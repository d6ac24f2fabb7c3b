"""The guided tour: the paper in short steps, each on a page, with a question that the page answers.

Whatever is said of a model is read from its stored results; whatever is said of BERT-base is the paper's.
"""
