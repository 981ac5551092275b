"""The examples in docstrings do what they say."""

from __future__ import annotations

import doctest
import importlib

import pytest
from source_tree import modules

WITH_EXAMPLES = sorted(name for name, path in modules().items() if ">>> " in path.read_text(encoding="utf-8"))


def test_the_language_opens_with_an_example() -> None:
    assert "model.language" in WITH_EXAMPLES


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples(name: str) -> None:
    # Not `import model.language.protocol`: the package has a function of that name, which hides the module.
    module = importlib.import_module(name)
    ended = doctest.testmod(module)
    assert ended.attempted
    assert not ended.failed, "the examples that fail are printed above"
