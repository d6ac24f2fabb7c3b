"""The analysis core of "What does BERT look at?": corpora, models, analyses, figures and the engine.

It never imports streamlit, and importing it is cheap: torch and transformers come in only when a model runs.
"""

import os

__version__ = "0.1.0"

# Two OpenMP threads that spin beside another busy process run 8 times slower; it must be set before torch.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# A tokenizer's own threads add nothing at this size and warn after a fork.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
