"""The frame: page configuration, navigation, the sidebar's choices, and the current page; and the server around it."""

import bertviz_core  # noqa: F401  (first: it sets what torch must find in the environment)

import streamlit as st  # isort: skip

from bertviz_core.errors import BertvizError, DownloadNeeded
from pages.shared import boxes
from pages.shared.frame import appearance, catalogue, serving, sidebar
from pages.shared.jobs import panel as job_panel

if __name__ != "__main__":  # `streamlit run` imports the server first; every visit then runs this file as a script
    app = st.App(__file__, lifespan=serving.lifespan, routes=serving.ROUTES, middleware=serving.MIDDLEWARE)
else:
    st.set_page_config(page_title="What does it look at?", page_icon="pages/shared/icon.svg", layout="wide")
    appearance.apply()
    page = st.navigation(catalogue.sections(), position="hidden")  # the sidebar draws its own menu
    entry, reached = catalogue.entry(page.url_path), False
    try:
        sidebar.choose(entry)
        reached = True
        page.run()
    except DownloadNeeded as needed:
        job_panel.offer_download(needed)
    except BertvizError as error:
        if not reached:  # the page draws its own title
            st.title(entry.title)
        boxes.error(error)
