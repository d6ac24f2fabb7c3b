"""What a head does on one short sentence, beside every map of heads: stored, or measured in the background."""

import json
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

import streamlit as st

from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.errors import BertvizError
from bertviz_core.heads import DirectedHead
from bertviz_core.viewer import InputAttention
from bertviz_core.viewer.preview import Preview, preview_key
from pages.shared import messages, services
from pages.shared.frame import Selection


def of(selection: Selection) -> bytes:
    """The preview of the chosen model as JSON; empty until it is measured, and for a model that cannot run it."""
    key = _key(selection)
    shown = _stored(key)
    if not shown:
        _measured(key, selection)
    return shown


def of_run(provenance: dict[str, Any], selection: Selection) -> bytes:
    """The preview of the model that a stored result is of, as JSON: of the chosen model, or where it is stored."""
    fingerprint, settings = provenance["model"]["fingerprint"], provenance["settings"]
    weights = settings.get("weights", "attention")
    if fingerprint == selection.checkpoint.fingerprint():
        return of(selection.of_weights(weights))
    return _stored(preview_key(fingerprint, weights, settings.get("dtype", "float32")))


def of_input(attention: InputAttention) -> bytes:
    """The preview of an input that was run already, as JSON; empty where queries and keys differ."""
    return _encoded(Preview.of(attention))


def of_guesses(result: RelationCounts, choice: DirectedHead, relation: str) -> bytes:
    """The preview of all heads' guesses in an example of a relation as JSON; empty where none is short enough."""
    return _encoded(Preview.of_guesses(result, choice, relation))


def wait_for(selection: Selection) -> None:
    """Draw the page again when the preview has been measured."""
    key = _key(selection)
    if not services.store().has(key) and not (measured := _measured(key, selection)).done():
        messages.rerun_after(measured)


def _key(selection: Selection) -> str:
    return preview_key(selection.checkpoint.fingerprint(), selection.settings.weights, selection.settings.dtype)


def _encoded(shown: Preview | None) -> bytes:
    return json.dumps({"preview": shown.to_json()}).encode() if shown else b""


def _stored(key: str) -> bytes:
    """Empty where there is none."""
    try:
        return _read(key)
    except LookupError:
        return b""


@st.cache_resource(max_entries=16, show_spinner=False)
def _read(key: str) -> bytes:
    """An absence is raised, because what raises is not cached."""
    data = services.store().get(key)
    if data is None:
        raise LookupError(key)
    return _encoded(Preview.from_bytes(data))


@st.cache_resource(max_entries=16, show_spinner=False)
def _measured(key: str, _selection: Selection) -> Future[None]:
    """Measure and store it in the background, once for all readers."""
    store, models = services.store(), services.loaded_models()

    def measure() -> None:
        with suppress(BertvizError, OSError):  # a map without previews is a map all the same
            model = models.get(_selection.checkpoint, _selection.settings.dtype)
            store.put(key, Preview.measure(model, _selection.settings).to_bytes())

    return services.in_background(measure)
