"""Plotly figures as SVG files, without a browser."""
