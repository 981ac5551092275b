"""Where the shipped specs and counterexamples are: inside the package if it came from a wheel, else beside it.

An editable install has copies in `_data` as well, but not beside this file, so that the folders people edit count.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).resolve().parent
_IN_WHEEL: Final = _PACKAGE / "_data"

SUFFIX: Final = ".toml"
_ORDER: Final = f"reading-order{SUFFIX}"

#: How the names of shipped specs begin that are of other protocols than Kafka's.
EXAMPLES: Final = "examples/"


def specs_folder() -> Path:
    """The folder of the shipped specs."""
    return _data_folder() / "specs"


def counterexamples_folder() -> Path:
    """The folder of the shipped counterexamples."""
    return _data_folder() / "counterexamples"


def shipped_specs() -> dict[str, Path]:
    """The files of the shipped specs by name, such as `published/kip-320`; sorted by name. What lies beside the folders
    of specs is no spec."""
    folder = specs_folder()
    names = {path.relative_to(folder).with_suffix("").as_posix(): path for path in folder.glob(f"*/**/*{SUFFIX}")}
    return dict(sorted(names.items()))


def reading_order() -> dict[str, str]:
    """The section that each shipped spec belongs to, by name, in the order to read them in. Those of `slow/`, which
    repeat others at larger bounds, have none; nor has any where the folder does not say."""
    path = specs_folder() / _ORDER
    order = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return {name: section["title"] for section in order.get("section", ()) for name in section["specs"]}


def _data_folder() -> Path:
    return _IN_WHEEL if _IN_WHEEL.is_dir() else _PACKAGE.parent
