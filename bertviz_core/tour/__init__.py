"""The guided tour: the paper in short steps, each on a page, with a question that the page answers.

Statements about a model come from its stored results, statements about BERT-base from the paper.
"""
