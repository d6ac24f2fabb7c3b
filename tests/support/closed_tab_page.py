"""A script for a server of its own: `?ask` asks for a job that ends only when it is cancelled."""

import time

import streamlit as st

from pages.shared import jobs, services
from pages.shared.state import reader


def until_cancelled(_task, progress) -> None:
    while True:
        progress.advance(0)
        time.sleep(0.01)


reader.GRACE = 0.5
services.Worker = lambda: until_cancelled
if "ask" in st.query_params:
    jobs.submit(st.query_params["ask"], "Work", lambda: {})
st.text(f"{len(jobs.unfinished())} mine, {len(services.jobs()._jobs)} in all")
