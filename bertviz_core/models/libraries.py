"""torch and transformers, imported together: parts of transformers import each other, and of two threads that begin
with different parts one would get a module that is not complete. Python makes a second thread wait for this module."""

import huggingface_hub.hf_api  # of which the same is true: what imports it alone, begins here too
import torch
import transformers
from transformers import AutoModel, AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForTextEncoding, AutoTokenizer
from transformers.models.auto.modeling_auto import MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES
from transformers.utils import logging

__all__ = [
    "MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES",
    "AutoModel",
    "AutoModelForCausalLM",
    "AutoModelForMaskedLM",
    "AutoModelForTextEncoding",
    "AutoTokenizer",
    "huggingface_hub",
    "logging",
    "torch",
    "transformers",
]
