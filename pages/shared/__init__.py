"""Code shared by the pages. Only this package, app.py and the pages import streamlit."""
