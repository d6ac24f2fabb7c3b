"""One visit: all choices, jobs and uploads of a reader under one key of Streamlit's session. The address is read on
arrival, that is after a link, a new tab, Back or Forward, and written at the end of each run.

Streamlit's own binding of widgets to the address is not used: see ARCHITECTURE.md.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from urllib.parse import urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertviz_core.analyses.base.request import Options
from bertviz_core.analyses.base.view import View
from bertviz_core.choices import Choices, default, hints
from bertviz_core.errors import BertvizError
from bertviz_core.heads import count_from
from bertviz_core.text_display import isolated
from pages.shared import messages, services, streamlit_internals
from pages.shared.state import address
from pages.shared.state.choices import HeaderChoices, PageChoices
from pages.shared.state.kinds import AnalysisChoices, kind_of, options_of, view_of
from pages.shared.state.reader import Reader
from pages.shared.state.selection import Basis, Selection

KEY = "session"  # of Streamlit's session state
UPLOADED = "upload-"  # of an upload's address
P = TypeVar("P", bound=PageChoices)
V = TypeVar("V", bound=View[Any])
OwnOptions = TypeVar("OwnOptions", bound=Options)


class PageEnd(Exception):
    """The page ends here. Streamlit's own stop would let nothing be written to the address after it."""


@dataclass(eq=False)
class Session:
    """What is known of one visit. The last four are of the current run alone.

    Attributes:
        page: The name of the page that is shown.
        pages: The choices of pages by their names, as they were left.
        arrived: Parameters of the address that no widget has shown yet.
        problems: From a parameter to its text, which the page cannot show.
        labels: From a parameter to the label of its widget.
        options: From a parameter to the text of the option sent to its widget.
        reader: The jobs and uploads.
        models: The models that are offered.
        trainings: The trainings that are offered.
        remembered_model: The model that was last noted in the store among the recent ones.
        playing: The step of a training that a player has reached, which is in no address; None where none plays.
        selection: What the header has resolved; None before it is drawn.
        title: The place of the title.
        title_line: The line of the title, with the picker of the head.
        choices_line: The line under it, with the model, the corpora and the settings.
    """

    page: str = ""
    header: HeaderChoices = field(default_factory=HeaderChoices)
    pages: dict[str, PageChoices] = field(default_factory=dict)
    arrived: dict[str, str] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    reader: Reader = field(default_factory=Reader)
    models: list[str] = field(default_factory=list)
    trainings: list[str] = field(default_factory=list)
    remembered_model: str = ""
    playing: int | None = None
    selection: Selection | None = None
    title: DeltaGenerator | None = None
    title_line: DeltaGenerator | None = None
    choices_line: DeltaGenerator | None = None

    def part(self, name: str) -> Choices:
        """The choices that have a field of this name: the header's, or the page's."""
        return self.header if name in hints(HeaderChoices) else self.of_page(kind_of(self.page))

    def of_page(self, kind: type[P]) -> P:
        """The choices of a page, at first its defaults."""
        found = self.pages.setdefault(kind.page_name, kind())
        assert isinstance(found, kind), "each page has one kind of choices"
        return found

    def view(self, kind: type[V]) -> V:
        """What is chosen of the result that the page of an analysis shows, with the head, if its view reports one."""
        head = self.selection.head if self.selection else self.header.head
        found = view_of(self._of_analysis(), head)
        assert isinstance(found, kind), "each analysis has one kind of view"
        return found

    def analysis_options(self, kind: type[OwnOptions]) -> OwnOptions:
        """The options of the request that are chosen on the page of an analysis."""
        found = options_of(self._of_analysis(), paper=self.header.mode == "paper")
        assert isinstance(found, kind), "each analysis has one kind of options"
        return found

    def _of_analysis(self) -> AnalysisChoices:
        chosen = self.of_page(kind_of(self.page))
        assert isinstance(chosen, AnalysisChoices), "the page of an analysis"
        return chosen

    def replace(self, **values: Any) -> None:
        """Replace fields of the header and of the current page."""
        for name, value in values.items():
            changed = replace(self.part(name), **{name: value})
            if isinstance(changed, HeaderChoices):
                self.header = changed
            elif isinstance(changed, PageChoices):
                self.pages[self.page] = changed


def current() -> Session:
    """The visit. Every run, fragment and callback asks for it, perhaps in a thread of its own, and from then on counts
    heads as the reader does."""
    try:  # The key is not tested first: a page asks sixty times, and Streamlit would look twice each time.
        session: Session = st.session_state[KEY]
    except KeyError:
        session = st.session_state[KEY] = Session()
    count_from(0 if session.header.zero else 1)
    return session


def page(kind: type[P]) -> P:
    """What the reader has chosen on a page."""
    return current().of_page(kind)


def view(kind: type[V]) -> V:
    """What the reader has chosen of the result that the page of an analysis shows."""
    return current().view(kind)


def options(kind: type[OwnOptions]) -> OwnOptions:
    """The options of the request that the reader has chosen on the page of an analysis."""
    return current().analysis_options(kind)


def selection() -> Selection:
    """What the header shows: a page is a script, which takes no arguments."""
    found = current().selection
    assert found is not None, "the header is drawn before the page"
    return found


def rebase(basis: Basis) -> Selection:
    """The selection of a page whose figures have a basis of their own."""
    session = current()
    session.selection = replace(selection(), basis=basis)
    return session.selection


def choose(**values: Any) -> None:
    """Replace choices for the reader, by the names of their fields, in a callback."""
    session = current()
    for name in values:
        session.problems.pop(session.part(name).parameter(name), None)
    session.replace(**values)


def forget(name: str) -> None:
    """Set a choice that cannot be shown back to its default; if the address has just made it, the reader is told."""
    session = current()
    part = session.part(name)
    parameter = part.parameter(name)
    if parameter in session.arrived:
        session.problems.setdefault(parameter, session.arrived[parameter])
    session.replace(**{name: default(type(part), name)})


def arrive(name: str) -> None:
    """Begin a run of a page: read the address if the reader has gone to another one."""
    session = current()
    is_back = streamlit_internals.is_history_navigation()
    if name == session.page and not is_back:
        return
    is_inside = bool(session.page) and not is_back
    session.page = name
    parameters = address.current_names(kind_of(name), st.query_params.to_dict())
    base = session.header if is_inside else HeaderChoices()
    if services.access().public:  # Addresses of a public server have no uploads.
        old = session.header
        base = replace(base, corpus=old.corpus, treebank=old.treebank, coreference=old.coreference, pairs=old.pairs)
    session.header, of_header = address.parse(HeaderChoices, parameters, base)
    of_address, of_page = address.parse(kind_of(name), parameters)
    session.pages[name] = address.with_long_texts(of_address, session.of_page(kind_of(name)))
    session.arrived = parameters
    known = _parameters(HeaderChoices) | _parameters(kind_of(name))
    unknown = {parameter: text for parameter, text in parameters.items() if parameter not in known}
    session.problems = of_header | of_page | unknown
    session.labels = {}
    session.options = {}
    session.playing = None


def leave() -> None:
    """Write the choices to the address, at the end of a run."""
    session = current()
    if session.playing is not None and is_alone():  # The browser's history is only for the reader's own steps.
        return
    parameters = shared() | _in_address(session.of_page(kind_of(session.page)))
    parameters = dict(sorted(parameters.items()))
    if st.query_params.to_dict() != parameters:
        st.query_params.from_dict(parameters)


def shared() -> dict[str, str]:
    """The parameters of the header, which all links carry."""
    return _in_address(current().header)


def here() -> str:
    """The page and the parameters of its own choices, to which a link leads back."""
    session = current()
    return f"{session.page}?{urlencode(_in_address(session.of_page(kind_of(session.page))))}"


def has_private_upload() -> bool:
    """Whether the reader sees an upload that no link opens, so that the address of the page leads to another corpus."""
    session = current()
    return any(
        address.query(each) != _in_address(each) for each in (session.header, session.of_page(kind_of(session.page)))
    )


def _in_address(choices: Choices) -> dict[str, str]:
    """The parameters of choices, without uploads on a public server, which no link opens."""
    parameters = address.query(choices)
    if services.access().public:
        return {name: text for name, text in parameters.items() if not text.startswith(UPLOADED)}
    return parameters


def _parameters(kind: type[Choices]) -> set[str]:
    """The names that an address may have for the fields of these choices."""
    return {kind.parameter(field) for field in hints(kind)}


def warn_of_problems() -> None:
    """Warn that parts of a link could not be restored, until the reader changes them."""
    session = current()
    reasons = [
        f"{session.labels.get(name, name)}: {isolated(f'“{text[:40]}”')} is not available here"
        for name, text in session.problems.items()
    ]
    if reasons:
        text = f"This link cannot be restored in full: {'; '.join(map(messages.plain, reasons))}."
        st.warning(text, icon=":material/link_off:")


def is_alone() -> bool:
    """Whether a fragment runs without the rest of its page."""
    return streamlit_internals.is_fragment_run()


def fragment(work: Callable[..., None]) -> Callable[..., None]:
    """Decorate a part of a page as a fragment, which writes its choices to the address and draws its errors itself."""

    @functools.wraps(work)
    def run(*arguments: Any, **options: Any) -> None:
        current()  # This sets the number of the first head for the thread of a fragment that runs alone.
        try:
            work(*arguments, **options)  # Streamlit raises here too when the reader leaves the page
        except BertvizError as problem:
            if not is_alone():
                raise
            messages.error(problem)
        if is_alone():
            leave()

    return st.fragment(run)
