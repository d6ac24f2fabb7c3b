"""How analyses are computed: one pass over a corpus for all that share it, chunk by chunk."""
