"""From documents to tensors, without a model: tokens, encoded inputs, segments, annotated words and labels."""
