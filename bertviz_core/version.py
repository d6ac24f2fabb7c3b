"""The version, in every result's provenance."""

__version__ = "0.1.0"
