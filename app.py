"""The app: page configuration, navigation, the header's controls, the current page, and the server around it."""

import bertviz_core  # noqa: F401  (first: it sets environment variables that torch reads)

import streamlit as st  # isort: skip

from bertviz_core.errors import BertvizError, DownloadNeeded
from bertviz_core.models.hub_questions import HubPending
from bertviz_core.settings import access_from_environment
from pages.shared import endnotes, head_panel, jobs, messages, services
from pages.shared.frame import header, links
from pages.shared.server import startup
from pages.shared.server.credit import credits_of_server
from pages.shared.state import session
from pages.shared.streamlit_internals import stop_of_run
from pages.shared.turns import turns
from pages.shared.views import default_heads

if __name__ != "__main__":  # `streamlit run` imports this file for the server; every visit then runs it as a script
    try:
        access_from_environment()  # here, because Streamlit would go on after an error in the lifespan
    except BertvizError as error:
        raise SystemExit(f"{error.what} {error.hint}") from None
    app = st.App(__file__, lifespan=startup.lifespan, routes=startup.ROUTES, middleware=startup.MIDDLEWARE)
else:
    with credits_of_server.page() as credit, turns.page_turn(credit, is_stopped=stop_of_run()):
        st.set_page_config(page_title="What does it look at?", page_icon="pages/shared/icon.svg", layout="wide")
        page = st.navigation([*map(links.page, links.ENTRIES)], position="hidden")  # the sidebar draws its own menu
        entry = links.entry(page.url_path)
        session.arrive(entry.name)
        with st.container(gap="xsmall"):
            notes = st.container()
            try:
                selection = header.draw(entry, default_heads.default_head)
                if entry in links.HEAD_PAGES:
                    with header.title_line():
                        head_panel.folded(entry.name, selection)
                page.run()
                endnotes.sources(session.selection())
            except DownloadNeeded as needed:
                jobs.offer_download(needed)
            except HubPending as pending:
                messages.note(pending)
                services.rerun_after(pending.answer)
            except BertvizError as error:
                messages.error(error)
            except session.PageEnd:
                pass
            session.leave()
            with notes:
                session.warn_of_problems()
        startup.first_page_served.set()
