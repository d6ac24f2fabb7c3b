"""The library's functions: `analyze`, `attention`, `head` and `report`."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import fields
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

from bertviz_core.analyses.base import guess_lists
from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.request import Options, Request, with_names_split
from bertviz_core.analyses.base.view import View
from bertviz_core.analyses.run import compute, run_pass
from bertviz_core.api_results import AnalysisResult, AttentionLines, HeadSummary, choose_heads
from bertviz_core.corpora.files import Corpus, every_kind, source_of
from bertviz_core.engine.store import Store, temporary_store
from bertviz_core.errors import InputError, SettingsError
from bertviz_core.exports import check_path, write_bytes
from bertviz_core.heads import Head, HeadLike
from bertviz_core.models import single_input
from bertviz_core.models.checkpoint import Checkpoint, Model, checkpoint_of
from bertviz_core.models.loaded_models import LoadedModels
from bertviz_core.models.loading import model_in_memory
from bertviz_core.models.model import AttentionModel, missing_lm_head
from bertviz_core.one_head.clear_input import CaptionedSvg, clear_input_of, lines
from bertviz_core.one_head.description import one_head
from bertviz_core.one_head.training import with_stored_training
from bertviz_core.overview.stored_results import completed, results_of
from bertviz_core.paper_report.pages import to_html
from bertviz_core.paper_report.report import ReportRequest
from bertviz_core.settings import Dtype, Execution, Offload, Settings, offload_of
from bertviz_core.viewer.input_attention import InputView, apply_view

_models = LoadedModels()  # of `attention`


def analyze(
    analysis: str,
    *,
    model: Model = "demo",
    corpus: Corpus | None = None,
    device: str = "auto",
    offload: Offload = "none",
    batch_tokens: int | None = None,
    store: str | Path | bool = True,
    **options: Any,
) -> AnalysisResult:
    """Run an analysis, or read a stored result.

    Args:
        analysis: Its name, as "surface_patterns" or "dependency_heads"; also that of an installed package.
        model: "demo", "demo-decoder", a folder, a hub name, also as "owner/name@revision", or a pair
            `(model, tokenizer)` of transformers in memory, left unchanged.
        corpus: A file, a sample's name, a list of texts (each a document), of (words, governors, relations) or of dicts
            as a JSON corpus has them; or an object of spaCy, Stanza, conllu, datasets or pandas. An iterator of such
            entries does as well as a list, and is read once. The sample of the analysis's kind where it is None.
        device: "auto", "cpu", "cuda" or "mps". A model in memory stays where it is under "auto".
        offload: Where weights of a model from files wait for which the GPUs have no room: in memory under "cpu", or,
            where that has none either, on the disk under "disk".
        batch_tokens: Tokens per batch; the device decides where it is None.
        store: True for the store that the command line and the app use, a folder for another one, False for none.
        **options: `max_length`, `limit`, `seed`, `mode`, `dtype`, `weights` and the analysis's own options, among them
            what its files report, as `head` or `relation`.

    Raises:
        BertvizError: The model, the corpus or an option cannot be used; the message says what to do.

    Examples:
        >>> import bertviz_core as bv
        >>> result = bv.analyze("surface_patterns", corpus=["The cat sat on the mat.\\nIt was warm."], store=False)
        >>> result["previous"].shape  # (layer, head)
        (6, 12)
    """
    request, own, view = _request(_definition(analysis), model, corpus, options)
    execution = Execution(device, batch_tokens, offload=offload_of(offload, "offload"))
    _check(request, view)
    opened = _store(store) if store and not request.checkpoint.unknown_code else None
    request = completed(own, request, opened)
    result = compute.find(opened, request)
    if result is None:
        load = load_from_memory(model, request.checkpoint)
        result = compute.compute(request, opened, execution, model=load([request], execution) if load else None)
    shown = view.show(result, view.beside(request, partial(compute.find, opened)))
    stored_list = guess_lists.stored_parts(opened, request.key(), request.source) if opened else None
    return AnalysisResult(view.choose(shown.with_lists(stored_list)))


analyse = analyze  # both spellings are public


def attention(
    model: Model,
    text: str | Sequence[str],
    second: str | Sequence[str] = "",
    *,
    head: HeadLike | None = None,
    heads: Sequence[HeadLike] | None = None,
    words: bool = False,
    special: bool = True,
    max_length: int = 128,
    device: str = "auto",
    offload: Offload = "none",
    dtype: Dtype = "float32",
) -> AttentionLines:
    """Run a model on one input and return its attention as lines to show.

    Args:
        model, device, offload, dtype: As in `analyze`.
        text: A sentence, or its words, each of which stays one whatever is in it; an empty one is unknown.
        second: Another text, or its words, as segment B.
        head: The head shown first, as "3-5" or (3, 5), counted from 1, "L2H4" or "2.4", counted from 0, or a `Head`;
            None for the one that attends most to the previous token.
        heads: Heads that can be chosen; all where it is None.
        words: Whether wordpieces are joined to words.
        special: Whether special tokens, such as [CLS] and [SEP], are shown; without them the other weights sum to 1.
        max_length: Maximum tokens, special ones included; the rest of the text is cut off.

    Raises:
        BertvizError: The model or the text cannot be used; the message says what to do.

    Examples:
        >>> import bertviz_core as bv
        >>> bv.attention("demo", "The cat sat on the mat.", head="3-5").tokens[:3]
        ('[CLS]', 'the', 'cat')
    """
    checkpoint = checkpoint_of(model)
    settings = Settings(max_length=min(max_length, checkpoint.max_length or max_length), dtype=dtype)
    settings.check(checkpoint.max_length)
    texts = _text_or_words(text, "text"), _text_or_words(second, "second")
    loaded = _loaded(model, checkpoint, device, dtype, offload)
    single = single_input.from_text(*texts, loaded.tokens, settings)
    maps = single_input.attention(loaded, single.example)
    shown = apply_view(single.layout, maps, InputView(words=words, special=special))
    first, offered = choose_heads(shown, head, heads)
    caption = f"{checkpoint.name}; weights from left to right sum to 1. Layers and heads count from 1."
    if single.cut:
        caption += f" {single.cut:,} tokens at the end did not fit."
    caption = " ".join([caption, *single.notices(loaded)])
    return AttentionLines(attention=shown, head=first, heads=offered, model=checkpoint.name, caption=caption)


def head(
    model: Model,
    head: HeadLike,
    *,
    mode: str = "corrected",
    weights: str = "attention",
    device: str = "auto",
    offload: Offload = "none",
    store: str | Path | bool | None = True,
) -> HeadSummary:
    """All that the stored results of a model say of one head, each analysis on its largest corpus.

    Nothing is computed but the lines on the input in which the head is clearest, when they are drawn, and no stored
    sentence or passage shows what it finds.

    Args:
        model, device, offload: As in `analyze`.
        head: In any form that `attention` takes, such as "5-4" or "L4H3".
        mode, weights: Those of the stored results.
        store: True, or None, for the store that the command line and the app use; a folder for another one.

    Raises:
        BertvizError: The model or the head cannot be used, or nothing is stored; the message says what to do.

    Examples:
        >>> import bertviz_core as bv
        >>> bv.head("demo", "3-5").sentence.startswith("Head 3-5 ")
        True
    """
    chosen = Head.parse(head)
    if store is False:
        hint = "Give store=True, or a folder in which results are stored."
        raise SettingsError("A head is described from stored results, and there is no store.", hint=hint)
    checkpoint = checkpoint_of(model)
    settings = Settings(mode=mode, weights=weights)  # type: ignore[arg-type]
    opened = _store(True if store is None else store)
    results = results_of(opened, checkpoint, settings)
    shown = with_stored_training(one_head(results, chosen), results, opened, checkpoint)

    def draw_lines() -> CaptionedSvg | None:
        clear = clear_input_of(results, shown)
        return lines(_loaded(model, checkpoint, device, clear.settings.dtype, offload), clear) if clear else None

    return HeadSummary(shown, draw_lines)


def report(
    out: str | Path,
    *,
    model: Model = "demo",
    text: Corpus | Literal[False] | None = None,
    treebank: Corpus | Literal[False] | None = None,
    coreference: Corpus | Literal[False] | None = None,
    pairs: Corpus | Literal[False] | None = None,
    device: str = "auto",
    offload: Offload = "none",
    store: str | Path | bool = True,
    **settings: Any,
) -> Path:
    """Write a report: every figure and table of the paper for one model, and which of the paper's statements it shows.

    What is not stored yet is computed, after a line on standard error that says about how long that takes.

    Args:
        out: `x.html`, one self-contained page.
        text, treebank, coreference, pairs: Corpora of sections 3 and 6, of 4.2 and 5, and of 4.3, and minimal pairs, as
            in `analyze`; the sample where one is None, none where it is False.
        model, device, offload: As in `analyze`.
        store: As in `analyze`; with False everything is computed, including what ships with the project.
        **settings: `max_length`, `limit`, `seed`, `mode` and `dtype`.

    Raises:
        BertvizError: The model, a corpus or a setting cannot be used; the message says what to do.
    """
    path = Path(out)
    check_path(path, (".html",))
    given = every_kind(text=text, treebank=treebank, coreference=coreference, pairs=pairs)
    corpora = {kind: source_of(corpus, kind) for kind, corpus in given.items() if corpus is not False}
    checkpoint = checkpoint_of(model)
    request = ReportRequest(checkpoint, corpora, Settings(**settings))
    request.settings.check(checkpoint.max_length)
    is_temporary = store is False or checkpoint.unknown_code
    with temporary_store() if is_temporary else nullcontext(_store(store)) as opened:
        if announcement := request.announcement(opened):
            print(announcement, file=sys.stderr)
        execution = Execution(device, offload=offload_of(offload, "offload"))
        failed = request.compute(opened, execution, load=load_from_memory(model, checkpoint))
        write_bytes(path, to_html(request.read(opened, failed)))
    return path


def _store(store: str | Path | bool) -> Store:
    """The store in a folder; that of the command line and the app where none is named."""
    return Store(None if isinstance(store, bool) else Path(store))


def _text_or_words(value: str | Sequence[str], name: str) -> str | list[str]:
    """A text, or the list of its words; raises InputError for what is neither."""
    if isinstance(value, str):
        return value
    hint = "Give a text, or a list of words."
    if isinstance(value, bytes | Mapping) or not isinstance(value, Iterable):
        raise InputError(f"The {name} is of type {type(value).__name__}.", hint=hint)
    words = list(value)
    for number, word in enumerate(words, 1):
        if not isinstance(word, str):
            raise InputError(f"Word {number:,} of the {name} is {word!r}, no text.", hint=hint)
    return words


def _loaded(model: Model, checkpoint: Checkpoint, device: str, dtype: str, offload: Offload) -> AttentionModel:
    if isinstance(model, str | Path):
        return _models.get(checkpoint, dtype, device, offload_of(offload, "offload"))
    return model_in_memory(model, checkpoint, device, dtype)


def _definition(name: str) -> Analysis[Any, Any]:
    """The analysis of a name, with hyphens or underscores; raises SettingsError where there is none."""
    if found := ANALYSES.get(str(name).replace("-", "_")):
        return found
    raise SettingsError(f"There is no analysis {name!r}.", hint=f"Choose one of {', '.join(ANALYSES)}.")


def _request(
    analysis: Analysis[Any, Any], model: Model, corpus: Corpus | None, options: dict[str, Any]
) -> tuple[Request, Options, View[Any]]:
    """The request of these keywords, each of the class that has a field of its name, its options, and the view that
    they ask for."""
    classes = (Settings, analysis.options, analysis.view)
    owners = {field.name: owner for owner in classes for field in fields(owner)}
    for name in sorted(options.keys() - owners.keys()):
        raise SettingsError(f"There is no option {name!r}.", hint=f"Choose from {', '.join(owners)}.")
    general, own, shown = ({n: v for n, v in options.items() if owners[n] is owner} for owner in classes)
    files = {name: own.pop(name) for name in analysis.options.files() if name in own}
    if shown.get("head") is not None:
        shown["head"] = Head.parse(shown["head"]).key()
    chosen = analysis.options(**with_names_split(analysis.options, own))
    view = analysis.view(**with_names_split(analysis.view, shown))
    chosen.check()
    view.check()
    others = {name: source_of(file, analysis.corpus) for name, file in files.items() if file is not None}
    settings = analysis.relevant(Settings(**general))
    source = source_of(corpus, analysis.corpus)
    request = Request(
        analysis=analysis.name,
        checkpoint=checkpoint_of(model),
        source=source,
        settings=settings,
        options=chosen.in_mode(settings.paper).to_json(),
        others=others,
    )
    return request, chosen, view


def _check(request: Request, view: View[Any]) -> None:
    """Raises BertvizError where the model cannot do what is asked of it."""
    request.settings.check(request.checkpoint.max_length)
    run_pass.check_model(request)
    run_pass.check_head(view, request.checkpoint)


def load_from_memory(model: Model, checkpoint: Checkpoint) -> run_pass.Load | None:
    """A function that prepares a model in memory, once; None for a model that is read from its files."""
    if isinstance(model, str | Path):
        return None
    prepare = cache(partial(model_in_memory, model, checkpoint))

    def load(together: Sequence[Request], execution: Execution) -> AttentionModel:
        prepared = prepare(execution.device, together[0].settings.dtype)
        if run_pass.needs_language_model(together) and prepared.language_model is None:
            raise missing_lm_head(checkpoint, f"its class is {checkpoint.config['architectures'][0]}")
        return prepared

    return load
