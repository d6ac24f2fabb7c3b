"""Descriptions of models, found by name or made of one in memory, without importing torch or transformers."""

import hashlib
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from bertviz_core.errors import DownloadNeeded, ModelError, SettingsError
from bertviz_core.models import model_sources
from bertviz_core.models.checkpoint_files import fingerprint, read_config, read_weights
from bertviz_core.models.configuration import HEADS, LAYERS, common_numbers, config_int, longest_input, reads_one_text
from bertviz_core.settings import LOCAL, Access

DEMO = "demo"
DEMO_DECODER = "demo-decoder"
ASSETS = Path(__file__).parent.parent / "assets"
DEMO_FOLDER = ASSETS / "demo-bert"
SHIPPED_MODELS = {DEMO: DEMO_FOLDER, DEMO_DECODER: ASSETS / "demo-decoder"}  # name -> folder
PAPER_MODEL = "bert-base-uncased"
PAPER_LENGTH = 512  # the longest input of BERT-base in tokens
PAPER_CONFIG: dict[str, Any] = {"model_type": "bert", "hidden_size": 768, "type_vocab_size": 2}
PAPER_CONFIG |= {"num_hidden_layers": 12, "num_attention_heads": 12, "max_position_embeddings": PAPER_LENGTH}
Model = str | Path | tuple[Any, Any]  # the tuple: (model, tokenizer)
# Entries of a configuration that do not change what a model computes.
VOLATILE = ("_name_or_path", "transformers_version", "dtype", "torch_dtype", "architectures", "output_attentions")


@dataclass(frozen=True)
class Checkpoint:
    """A folder with config.json, tokenizer files and *.safetensors; or a model in memory.

    Attributes:
        name: The name that the user gave; of a model from the hub with its revision, if any: `owner/name@revision`.
        revision: The revision of a model from the hub; None for a local folder or where the user gave none.
        config: The content of config.json.
        digest: Its fingerprint, where there are no files or they need not be read again; else empty.
        size: The number of weights, likewise; else None.
        unknown_code: Which code of a model in memory is not that of a known package, as a phrase: then nothing is
            stored. Empty for none.
        longest: The longest input in tokens, where its embeddings tell it; else None.
    """

    name: str
    folder: Path
    revision: str | None = None
    config: dict[str, Any] = field(repr=False, compare=False, default_factory=dict)
    digest: str = ""
    size: int | None = field(repr=False, compare=False, default=None)
    unknown_code: str = field(repr=False, compare=False, default="")
    longest: int | None = field(repr=False, compare=False, default=None)

    @property
    def label(self) -> str:
        """The name in pages and pictures."""
        return self.name if self.revision else label_of(self.name)

    @property
    def names(self) -> dict[str, Any]:
        """Its name and its revision, as provenance has them; with `of_hub` where its files are those of the hub's
        cache, so that the name is no folder's."""
        name, _ = model_sources.split_revision(self.name)
        is_of_hub = self.folder.parent.parent.name == f"models--{name.replace('/', '--')}"
        return {"name": self.name, "revision": self.revision} | ({"of_hub": True} if is_of_hub else {})

    @property
    def layers(self) -> int:
        """The number of layers."""
        return config_int(self.config, LAYERS)

    @property
    def heads(self) -> int:
        """The number of heads of a layer."""
        return config_int(self.config, HEADS)

    @property
    def max_length(self) -> int | None:
        """The most tokens, special ones included, that the position embeddings allow; None for no limit."""
        longest = longest_input(self.config)
        return longest if self.longest is None else min(self.longest, longest or self.longest)

    @property
    def reads_one_text(self) -> bool:
        """Whether two texts are one to the model, as to decoders; else tokens stand between them."""
        return reads_one_text(self.config)

    def fingerprint(self) -> str:
        """sha256 (hex) over the weights, the configuration and the tokenizer: equal files, equal results."""
        return self.digest or fingerprint(self.folder)

    def parameters(self) -> int:
        """Number of weights; tied ones once."""
        return self.size or sum(map(math.prod, read_weights(self.folder).values()))


def find_checkpoint(name: str, revision: str | None = None, access: Access = LOCAL) -> Checkpoint:
    """Find a model on this machine.

    Args:
        name: `demo`, `demo-decoder`, a folder, or a hub name, also with a revision: `owner/name@revision`. Where
            `access` limits the folders, a name is looked up among theirs and is never a path.
        revision: A branch, tag or commit of a hub name; None for that of the name, or the default one.

    Raises:
        DownloadNeeded: The model is on the hub.
        ModelError: It cannot be opened.
        SettingsError: A folder has no revisions.
    """
    folder = _folder(name, access)
    if folder is None and revision is None:
        name, revision = model_sources.split_revision(name)
        folder = _folder(name, access)
    if folder is not None:
        if revision is not None:
            raise SettingsError(f"Only hub models have revisions, and {name!r} is not one.", hint="Omit the revision.")
        return _shipped(name) if name in SHIPPED_MODELS else reopen(name, folder, None)
    is_path = Path(name).is_absolute() or name.startswith((".", "~")) or name.count("/") > 1 or not name.strip()
    if access.folders is not None and (is_path or access.downloads == 0):
        raise model_sources.not_available("model")
    if is_path:
        raise ModelError(f"There is no folder {name!r}.", hint="Give a folder, a name on the hub, or demo.")
    return _of_hub(name, revision, model_sources.snapshot(name, revision, access))


def _folder(name: str, access: Access) -> Path | None:
    """The folder of a model that needs no hub."""
    if name in SHIPPED_MODELS:
        return SHIPPED_MODELS[name]
    return local_folder(name) if access.folders is None else model_sources.models(access).get(name)


def _of_hub(name: str, revision: str | None, folder: Path) -> Checkpoint:
    return reopen(model_sources.with_revision(name, revision), folder, revision)


def reopen(name: str, folder: Path | str, revision: str | None) -> Checkpoint:
    """A checkpoint whose folder is known; raises ModelError where its files are gone or cannot be used."""
    return Checkpoint(name, Path(folder), revision, read_config(Path(folder)))


@cache
def _shipped(name: str) -> Checkpoint:
    """A model that ships. Its files do not change, and every run of a page asks for it."""
    return replace(reopen(name, SHIPPED_MODELS[name], None), digest=fingerprint(SHIPPED_MODELS[name]))


def local_folder(name: str) -> Path | None:
    """The folder of this path; None where there is none."""
    try:
        folder = Path(name).expanduser()
        return folder if name.strip() and folder.is_dir() else None
    except (OSError, RuntimeError, ValueError):  # Too long for a file, in no user's home, or with a null character.
        return None


def download(name: str, access: Access = LOCAL) -> Checkpoint:
    """Fetch the safetensors, configuration and tokenizer of a hub model, by its name as `find_checkpoint` takes it.

    Raises:
        ModelError: That fails.
    """
    name, revision = model_sources.split_revision(name)
    return _of_hub(name, revision, model_sources.snapshot(name, revision, access, download=True))


def checkpoint_of(model: Model, revision: str | None = None, *, quiet: bool = False) -> Checkpoint:
    """The checkpoint of a model, which is downloaded if need be.

    Args:
        model: A name as of `find_checkpoint`, a folder, or a model in memory with its tokenizer.
        revision: A branch, tag or commit of a model on the hub.
        quiet: Whether the size of a download is not printed first.

    Raises:
        ModelError: It cannot be opened.
    """
    if isinstance(model, str | Path):
        try:
            return find_checkpoint(str(model), revision)
        except DownloadNeeded as needed:
            if not quiet:
                print(f"Downloading {needed.name}: {needed.size / 1e6:,.0f} MB", file=sys.stderr)
            return download(needed.name)
    from transformers import PreTrainedModel

    if not isinstance(model, tuple | list) or len(model) != 2:
        name = type(model).__name__
        is_alone = isinstance(model, PreTrainedModel)
        what = f"The {name} has no tokenizer beside it." if is_alone else f"An object of type {name} is not a model."
        raise ModelError(what, hint="Give demo, a folder, a name on the hub, or (model, tokenizer).")
    from bertviz_core.models.in_memory_fingerprint import unwrapped

    model = (unwrapped(model[0]), model[1])
    if not isinstance(model[0], PreTrainedModel):
        raise _no_transformers_model(model[0])
    if model[0].main_input_name != "input_ids":
        what = f"A {type(model[0]).__name__} reads {model[0].main_input_name.replace('_', ' ')}, not text."
        raise ModelError(what, hint="Choose an encoder or a decoder of text.")
    if not hasattr(model[1], "get_vocab"):
        what = "There is no tokenizer." if model[1] is None else f"A {type(model[1]).__name__} is not a tokenizer."
        raise ModelError(what, hint="Give (model, tokenizer), both objects of transformers.")
    return describe(*model)


def _no_transformers_model(given: Any) -> ModelError:
    """The error for an object that is no model of transformers, but may hold one."""
    from transformers import PreTrainedModel

    what = f"An object of type {type(given).__name__} is not a transformers model"
    parts = given.named_modules() if hasattr(given, "named_modules") else ()
    for name, part in parts:
        if isinstance(part, PreTrainedModel):
            hint = f"Give the one inside with its tokenizer: (model.{name}, tokenizer)."
            return ModelError(f"{what}, but holds a {type(part).__name__} as `{name}`.", hint=hint)
    return ModelError(f"{what}.", hint="Give (model, tokenizer), both objects of transformers.")


def describe(model: Any, tokenizer: Any) -> Checkpoint:
    """Describe a transformers model and its tokenizer as they are now; every weight is read once.

    Raises:
        ModelError: Something outside the model computes its attention.
    """
    import torch

    from bertviz_core.models.dispatched import read_weight
    from bertviz_core.models.in_memory_fingerprint import (
        check_attention_functions,
        check_parts,
        describe_parts,
        unknown_code,
    )

    check_attention_functions(model)
    check_parts(model)
    config = model.config.to_dict() | {"architectures": [type(model).__name__]}
    stable = {name: value for name, value in config.items() if name not in VOLATILE and "attn_impl" not in name}
    total = hashlib.sha256()
    for described in (stable, _describe_tokenizer(tokenizer), describe_parts(model)):
        total.update(json.dumps(described, sort_keys=True, default=str).encode())
    sizes = {}  # Sizes are by storage, so that tied weights count once; those that wait elsewhere have none.
    tied = getattr(model, "all_tied_weights_keys", None) or {}
    for name, tensor in sorted(model.state_dict().items()):
        shape = tuple(tensor.shape)
        storage = (tied.get(name, name) if tensor.is_meta else tensor.data_ptr(), shape)
        if storage not in sizes:
            sizes[storage] = tensor.numel()
            total.update(f"{name} {tensor.dtype} {shape}\n".encode())
            values = read_weight(model, name) if tensor.is_meta else tensor.detach()
            total.update(values.cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    size = sum(sizes.values())
    config |= common_numbers(model.config)
    name = f"{type(model).__name__} in memory"
    return Checkpoint(
        name=name,
        folder=Path(),
        revision=None,
        config=config,
        digest=total.hexdigest(),
        size=size,
        unknown_code=unknown_code(model),
    )


def _describe_tokenizer(tokenizer: Any) -> Any:
    """All that decides how a text is cut; padding and truncation are only those of the last call."""
    special = {name: str(token) for name, token in tokenizer.special_tokens_map.items()}
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        return [type(tokenizer).__name__, tokenizer.get_vocab(), special]
    whole = json.loads(backend.to_str())
    return [{name: value for name, value in whole.items() if name not in ("padding", "truncation")}, special]


def label_of(name: str) -> str:
    """The last part of a model's name, which may be a path; of a folder `model` that of its parent."""
    path = Path(name)
    return path.parent.name or path.name if path.name == "model" else path.name


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Names of models or trainings for pickers: of a path as many of its last parts as make it unlike those before."""
    shown: dict[str, str] = {}
    for name in names:
        tails = [name]
        if name.startswith(("/", "~", ".")):
            parts = Path(name).parts
            tails = [label_of(name), *("/".join(parts[-count:]) for count in range(2, len(parts) + 1))]
        shown[name] = next((tail for tail in tails if tail and tail not in shown.values()), name)
    return shown


def paper_model() -> Checkpoint:
    """BERT-base without files: its requests can be estimated and named, but nothing is stored under such a name."""
    digest = f"not on this machine: {PAPER_MODEL}"
    return Checkpoint(
        name=PAPER_MODEL, folder=Path(PAPER_MODEL), revision=None, config=PAPER_CONFIG, digest=digest, size=110_000_000
    )
