"""What the pages share. With app.py and the pages, the only place that imports streamlit."""
