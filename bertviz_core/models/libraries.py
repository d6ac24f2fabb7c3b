"""torch and transformers, imported together: two threads that first import different parts of transformers, which
import each other, would get half-initialized modules. Python makes a second thread wait for this module."""

import huggingface_hub.hf_api  # for the same reason: import it from here
import torch
import transformers
from transformers import AutoModel, AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForTextEncoding, AutoTokenizer  # noqa: F401
from transformers.models.auto.modeling_auto import MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES
from transformers.utils import logging

__all__ = ["MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES", "huggingface_hub", "logging", "torch", "transformers"]
