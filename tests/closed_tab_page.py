"""A script for a server of its own: `?ask` asks for a job that ends only when it is cancelled."""

import time

import streamlit as st

from pages.shared import services, session
from pages.shared.jobs import reader_jobs


def until_cancelled(_task, progress) -> None:
    while True:
        progress.advance(0)
        time.sleep(0.01)


session.GRACE = 0.5
services.Worker = lambda: until_cancelled
if "ask" in st.query_params:
    reader_jobs.submit(st.query_params["ask"], "Work", lambda: {})
st.text(f"{len(reader_jobs.unfinished())} mine, {len(services.jobs()._jobs)} in all")
