"""What is timed, against what. Every benchmark runs on its own: `python -m benchmarks.NAME`."""
