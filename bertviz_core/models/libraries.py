"""torch and transformers, imported together: two threads that each begin with another part of transformers, which
import one another, would get unfinished modules. Python makes a second thread wait for this module."""

import huggingface_hub.hf_api  # likewise, so what imports it alone begins here too
import torch
import transformers
from transformers import AutoModel, AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForTextEncoding, AutoTokenizer  # noqa: F401
from transformers.models.auto.modeling_auto import MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES
from transformers.utils import logging

__all__ = ["MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES", "huggingface_hub", "logging", "torch", "transformers"]
