"""The commands about inputs: segments, treebanks as JSON, attention maps, and one head on one input."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from bertviz_core import exports
from bertviz_core.cli import Console, with_options
from bertviz_core.corpora import Skipped, describe_skipped
from bertviz_core.corpora.annotated import Treebank
from bertviz_core.corpora.files import expand, find_sources
from bertviz_core.engine.forward_pass import extract as write_maps
from bertviz_core.errors import SettingsError
from bertviz_core.heads import Head
from bertviz_core.inputs.encoded_corpus import Reading
from bertviz_core.inputs.labels import layout_of
from bertviz_core.inputs.segments import FirstSegments, Segments
from bertviz_core.models import single_input
from bertviz_core.models.loading import load_tokens
from bertviz_core.models.model import with_weights
from bertviz_core.viewer.files import MIN_WEIGHT, SUFFIXES, builders, input_origin
from bertviz_core.viewer.input_attention import InputView, apply_view

NO_JOB = ("workers", "ray", "store", "no_store")  # unused where nothing is distributed or stored
NO_MODEL = (*NO_JOB, "device", "offload", "dtype", "batch_tokens", "weights")  # unused where no model runs

WordLevel = Annotated[bool, typer.Option("--word-level", help="Attention between words, not wordpieces.")]

inputs_app = typer.Typer()


@inputs_app.command("treebank")
@partial(with_options, without=(*NO_MODEL, "model", "revision", "max_length", "seed", "mode"))
def treebank(console: Console) -> None:
    """A treebank to JSON: words, heads and relns of every sentence (the release's preprocess_depparse)."""
    bank = Treebank(find_sources(console.input))
    _write_json(console, lambda skipped: (s.to_json() for s in islice(bank.sentences(skipped), console.settings.limit)))


@inputs_app.command("segments")
@partial(with_options, without=NO_MODEL)
def segments(console: Console) -> None:
    """Text to a JSON list of segments, as `tokens` (the release's preprocess_unlabeled)."""
    inputs = segments_of(console)
    names = inputs.tokens.names

    def records(skipped: Skipped) -> Iterator[Any]:
        return ({"tokens": names(e.ids), "where": e.where} for e in inputs.read(Reading(skipped=skipped)))

    _write_json(console, records)


@inputs_app.command("extract")
@partial(with_options, without=NO_JOB)
def extract(console: Console, word_level: WordLevel = False) -> None:
    """Attention maps to x.safetensors, one entry for each input, which x.inputs.json describes (the release's
    extract_attention)."""
    if len(console.out) != 1:
        raise SettingsError("`extract` writes one file.", hint="Give --out maps.safetensors.")
    (out,) = console.out
    exports.check_path(out, (".safetensors",))
    beside = out.with_suffix(".inputs.json")
    if beside.resolve() in {file.resolve() for name in console.input for file in expand(name)}:
        what = "The description of the maps would overwrite an input."
        raise SettingsError(what, where=str(beside), hint="Give another --out.")
    inputs = segments_of(console)
    for example in inputs if word_level else ():
        if example.words is None:
            hint = 'Give JSON objects with "words", or omit --word-level.'
            raise SettingsError("--word-level needs inputs that are given as `words`.", where=example.where, hint=hint)
    model = with_weights(console.load_model(console.checkpoint()), inputs.settings.weights)
    metadata = {"settings": json.dumps(console.settings.to_json()), "model": model.checkpoint.fingerprint()}
    level = console.settings.mode if word_level else None
    write_maps(model, inputs, out, console.progress(), console.batch_tokens, metadata, level)
    console.say("")
    reading = Reading()
    descriptions = (
        {**each.other, "entry": str(each.number), "where": each.where, "tokens": inputs.tokens.names(each.ids)}
        for each in inputs.read(reading)
    )
    exports.write_bytes(beside, exports.json_pieces(descriptions))
    for line in describe_skipped(reading.skipped.to_json()):
        console.say(line)


@inputs_app.command("attention")
@partial(with_options, without=(*NO_JOB, "batch_tokens"))
def attention(
    console: Console,
    head: Annotated[str, typer.Option(help="layer-head, counted from 1, as in 3-5, or L2H4, counted from 0.")],
    item: Annotated[int, typer.Option(help="Number of the input in the file, from 1.")] = 1,
    word_level: WordLevel = False,
    no_special: Annotated[bool, typer.Option("--no-special", help="Hide special tokens; rescale the others.")] = False,
    min_weight: Annotated[float, typer.Option(help="Minimum weight of a drawn line.")] = MIN_WEIGHT,
) -> None:
    """One head on one input: .html or .svg of its lines, .csv of weights, .safetensors of all heads (Figures 1, 5)."""
    console.check_out(SUFFIXES)
    chosen = Head.parse(head)
    checkpoint = console.checkpoint()
    chosen.check(checkpoint.layers, checkpoint.heads)
    inputs = segments_of(console)
    example = FirstSegments(inputs).pick(item)
    model = with_weights(console.load_model(checkpoint), inputs.settings.weights)
    single = single_input.OneInput(example, layout_of(example, inputs.tokens))
    for notice in single.notices(model):
        console.say(notice)
    view = InputView(word_level, not no_special, first_piece=console.settings.mode == "paper")
    shown = apply_view(single.layout, single_input.attention(model, example), view)
    origin = input_origin(checkpoint, inputs.settings, single.digest())
    files = builders(shown, chosen, origin, min_weight)
    heaviest = shown.to_frame(chosen).nlargest(20, "weight")
    text = partial(heaviest.to_string, index=False, float_format="{:.3f}".format)
    console.write(lambda suffix: files[suffix](), text)


def segments_of(console: Console) -> Segments:
    """The encoded examples of the command's input; raises BertvizError for settings the model cannot use."""
    checkpoint = console.checkpoint()
    settings = console.settings
    settings.check(checkpoint.max_length)
    return Segments(find_sources(console.input), load_tokens(checkpoint), settings)


def _write_json(console: Console, records: Callable[[Skipped], Iterable[Any]]) -> None:
    """Write records, read again for each --out, as a JSON list; then print what was skipped."""
    console.check_out((".json",))
    paths: list[Path | None] = [*console.out]
    for path in paths or [None]:
        skipped = Skipped()
        pieces = exports.json_pieces(records(skipped))
        if path:
            exports.write_bytes(path, pieces)
        else:
            sys.stdout.buffer.writelines(pieces)
            sys.stdout.buffer.write(b"\n")
    for line in describe_skipped(skipped.to_json()):
        console.say(line)
