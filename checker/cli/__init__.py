"""The command line. `main` is what the console script `tidegauge` calls."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from typing import Final, NoReturn

#: So many new objects are worth a look for garbage. By itself Python looks after 700, and a command that stages, proves
#: and compiles makes millions that stay: a twentieth of its time would go into looking.
WORTH_COLLECTING: Final = 100_000


def main() -> NoReturn:
    """Run the command in `sys.argv` and end the process with its exit code."""
    gc.set_threshold(WORTH_COLLECTING)
    from checker.cli.application import run

    _leave(run(sys.argv[1:]))


def _leave(code: int) -> NoReturn:
    """End the process without taking it apart first: what z3 and numba have made would be freed piece by piece, which
    can take longer than the search, and the system frees it at once. Whatever was to be written has been."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        with contextlib.suppress(OSError, ValueError):  # nobody reads any more
            stream.flush()
    os._exit(code)
