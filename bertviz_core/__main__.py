"""`python -m bertviz_core COMMAND INPUT [options]`."""

from bertviz_core.cli.commands import main

main()
