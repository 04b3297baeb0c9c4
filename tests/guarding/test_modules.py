"""Modules of the caller's in workers: imported without end nowhere, and loaded again where they are here."""

from __future__ import annotations

import importlib
import os
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import outlive
from outlive.guarding.caller_state import MOST_LEVELS, CannotNest, ReloadWatch
from tests.deaths.restrictions import linux_only
from tests.guarding.scenes import play

pytestmark = linux_only
Write = Callable[[str, str], None]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Writes a module that can be imported; each time, it is a second younger than the last."""
    monkeypatch.syspath_prepend(str(tmp_path))
    written: dict[str, int] = {}

    def write_module(name: str, text: str) -> None:
        path = tmp_path / f"{name}.py"
        path.write_text(text)
        written[name] = written.get(name, 1_700_000_000) + 1
        os.utime(path, (written[name], written[name]))
        importlib.invalidate_caches()

    yield write_module
    for name in written:
        sys.modules.pop(name, None)


def test_a_guarded_call_in_an_imported_module_is_refused(tmp_path: Path) -> None:
    (tmp_path / "calls_itself.py").write_text(
        "import outlive\ndef f(): return 1\nprint('calling', flush=True)\noutlive.guard(f)()\n"
    )
    done = play(f"sys.path.insert(0, {str(tmp_path)!r})\nimport calls_itself", expect=1)
    assert done.stdout.count("calling") == 2  # here, and in one worker
    last = done.stderr.strip().splitlines()[-1]
    assert "CannotNest" in last
    assert "calls_itself.py, line 4" in last
    assert '`if __name__ == "__main__":`' in last


def test_guards_inside_guards_are_counted_and_end_somewhere() -> None:
    def level() -> int:
        return int(sys.modules["outlive_child.guard.server"].Nesting.depth)

    def inner() -> int:
        return int(outlive.guard(level)())

    def deep() -> Any:
        nesting: Any = sys.modules["outlive_child.guard.server"].Nesting
        nesting.depth = MOST_LEVELS
        try:
            return outlive.guard(level)()
        finally:
            nesting.depth = 1

    assert (outlive.guard(level)(), outlive.guard(inner)()) == (1, 2)
    with pytest.raises(CannotNest, match=f"{MOST_LEVELS} deep"):
        outlive.guard(deep)()


def test_a_module_that_is_loaded_again_is_loaded_again_in_its_worker(write: Write) -> None:
    write("changing", "def f(): return 'old'\nclass C:\n    def f(self): return 'old'\n")
    changing: Any = importlib.import_module("changing")

    def through_the_module() -> str:
        return str(changing.f())

    through = outlive.guard(through_the_module)
    pid = outlive.guard(os.getpid)()
    before = outlive.guard(changing.f)
    assert (before(), through(), outlive.guard(changing.C().f)()) == ("old", "old", "old")
    write("changing", "def f(): return 'new'\nclass C:\n    def f(self): return 'new'\n")
    importlib.reload(changing)
    assert (outlive.guard(changing.f)(), through(), outlive.guard(changing.C().f)()) == ("new", "new", "new")
    assert before() == "old"  # as here: that function is the old one
    assert outlive.guard(os.getpid)() == pid


def test_a_module_behind_a_module_is_loaded_again_too(write: Write) -> None:
    write("behind", "VALUE = 1\n")
    write("in_front", "import behind\ndef f(): return behind.VALUE\n")
    in_front: Any = importlib.import_module("in_front")
    value = outlive.guard(in_front.f)
    assert value() == 1
    write("behind", "VALUE = 2\n")
    importlib.reload(sys.modules["behind"])
    assert (in_front.f(), value()) == (2, 2)


def test_a_module_that_is_imported_anew(write: Write) -> None:
    write("forgotten", "def f(): return 1\n")
    assert outlive.guard(importlib.import_module("forgotten").f)() == 1
    write("forgotten", "def f(): return 2\n")
    del sys.modules["forgotten"]
    assert outlive.guard(importlib.import_module("forgotten").f)() == 2


def test_another_module_of_the_same_name(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("two_of_them", "def f(): return 'first'\n")
    assert outlive.guard(importlib.import_module("two_of_them").f)() == "first"
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "two_of_them.py").write_text("def f(): return 'second'\n")
    monkeypatch.syspath_prepend(str(tmp_path / "other"))
    del sys.modules["two_of_them"]
    assert outlive.guard(importlib.import_module("two_of_them").f)() == "second"


def test_a_module_that_no_longer_loads_says_so(write: Write) -> None:
    write("breaking", "def f(): return 1\n")
    breaking: Any = importlib.import_module("breaking")
    guarded = outlive.guard(breaking.f)
    assert guarded() == 1
    write("breaking", "def f(): return 2\n")
    importlib.reload(breaking)
    write("breaking", "def f(: return 3\n")  # after it was loaded here
    with pytest.raises(SyntaxError):
        outlive.guard(breaking.f)()


def test_only_modules_of_the_users_own_are_loaded_again(write: Write) -> None:
    write("watched", "")
    reloads = ReloadWatch()
    reloads.look()
    assert not reloads.look()
    json = importlib.import_module("json.encoder")
    importlib.reload(json)
    importlib.reload(importlib.import_module("numpy.version"))
    assert not reloads.look()
    module = importlib.import_module("watched")
    assert not reloads.look()
    importlib.reload(module)
    importlib.reload(module)
    assert list(reloads.look()) == ["watched"]
    assert not reloads.look()
    importlib.reload(module)  # it was the last before, too
    assert list(reloads.look()) == ["watched"]


def test_modules_that_load_themselves_are_left_alone() -> None:
    class Shy(types.ModuleType):
        def __getattribute__(self, name: str) -> Any:
            raise AssertionError("asked for " + name)

    sys.modules["shy"] = Shy("shy")
    try:
        assert outlive.guard(abs)(-1) == 1
    finally:
        del sys.modules["shy"]
