"""Where in somebody's file a piece of a protocol was written."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import FrameType, TracebackType

from model.errors import Place

_LANGUAGE = str(Path(__file__).parent) + os.sep
_STANDARD_LIBRARY = str(Path(os.__file__).parent) + os.sep


def here() -> Place | None:
    """The innermost line outside the language itself that is being executed."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_LANGUAGE):
        frame = frame.f_back
    return None if frame is None else Place(frame.f_code.co_filename, frame.f_lineno)


def raised_at(traceback: TracebackType | None) -> Place | None:
    """The innermost line outside the language and the standard library that an exception went through."""
    found = None
    while traceback is not None:
        filename = traceback.tb_frame.f_code.co_filename
        if _is_the_authors(filename):
            found = Place(filename, traceback.tb_lineno)
        traceback = traceback.tb_next
    return found


def _is_the_authors(filename: str) -> bool:
    if filename.startswith((_LANGUAGE, "<frozen")):
        return False
    return not filename.startswith(_STANDARD_LIBRARY) or "site-packages" in filename
