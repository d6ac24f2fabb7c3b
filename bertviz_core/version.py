"""The version, in every result's provenance."""

__version__ = "1.0.0"
