"""A delegate library of the user's: what it takes, what it does, and what is wrong with the file."""

from __future__ import annotations

from pathlib import Path

import pytest

import outlive
from outlive.accelerators import Accelerator
from outlive.accelerators.configurations import library_problem
from tests.accelerators.small_library import build, needs_compiler
from tests.accelerators.small_models import line

MODEL = line("ADD", "MUL", "ADD")


def tried(mood: str, **options: str) -> Accelerator:
    delegate = outlive.load_delegate(build(), {"mood": mood, **options})
    coverage = outlive.probe(MODEL, only=["library"], delegates=[delegate], cache=False)
    return coverage["libsmall_delegate.so"]


@needs_compiler
def test_one_that_works_takes_its_operators_in_partitions() -> None:
    seen = tried("works")
    assert (seen.outcome, seen.taken, seen.partitions) == ("runs", (0, 2), 2)
    assert [(refusal.op, refusal.type) for refusal in seen.refused] == [(1, "MUL")]
    assert seen.difference is not None
    assert seen.difference.largest == 0
    assert [(item.name, item.into) for item in seen.crossings] == [
        ("t0", True),
        ("t2", True),
        ("t1", False),
        ("t3", False),
    ]


@needs_compiler
def test_one_that_is_wrong_differs() -> None:
    seen = tried("wrong")
    assert seen.outcome == "differs"
    assert seen.difference is not None
    assert seen.difference.largest > seen.difference.allowed > 0


@needs_compiler
def test_one_that_refuses_says_why() -> None:
    seen = tried("refuses")
    assert (seen.outcome, seen.compiles, seen.runs) == ("refused", False, False)
    assert "this device has no such unit" in seen.error


@needs_compiler
def test_an_unknown_option_is_the_librarys_to_refuse() -> None:
    seen = tried("works", speed="high")
    assert seen.outcome == "refused"
    assert "there is no such option" in seen.error


@needs_compiler
def test_one_that_gives_up_on_the_graph_is_refused() -> None:
    seen = tried("leaves")
    assert (seen.outcome, seen.death) == ("refused", None)


@needs_compiler
def test_one_that_dies_is_told_and_we_live() -> None:
    seen = tried("dies")
    assert seen.outcome == "died"
    assert seen.death is not None
    assert (seen.death.signal, seen.death.stage) == ("SIGSEGV", "invoke")
    assert (seen.compiles, seen.runs, seen.taken) == (True, False, (0, 2))


def test_a_library_that_is_not_there() -> None:
    words, remedy = library_problem("/nowhere/libnone.so")
    assert words == "file not found: /nowhere/libnone.so"
    assert remedy
    coverage = outlive.probe(
        MODEL, only=["library"], delegates=[outlive.load_delegate("/nowhere/libnone.so")], cache=False
    )
    assert (coverage["libnone.so"].outcome, coverage["libnone.so"].is_library) == ("absent", True)


def test_a_name_that_the_system_does_not_find() -> None:
    assert "finds no library named libnone_at_all.so" in library_problem("libnone_at_all.so")[0]


def test_a_folder_and_a_text_are_no_libraries(tmp_path: Path) -> None:
    assert "is a folder" in library_problem(str(tmp_path))[0]
    text = tmp_path / "libtext.so"
    text.write_text("GROUP ( libreal.so )")
    assert "is not a shared library" in library_problem(str(text))[0]


@needs_compiler
@pytest.mark.parametrize(("machine", "name"), [(183, "aarch64"), (40, "armv6l"), (9999, "machine 9999")])
def test_a_library_for_another_processor(tmp_path: Path, machine: int, name: str) -> None:
    data = bytearray(Path(build()).read_bytes())
    data[18:20] = machine.to_bytes(2, "little")
    other = tmp_path / "libother.so"
    other.write_bytes(data)
    assert f"is built for {name}, this machine is x86_64" in library_problem(str(other), "x86_64")[0]


@needs_compiler
def test_a_library_without_the_function_that_makes_a_delegate(tmp_path: Path) -> None:
    data = (
        Path(build())
        .read_bytes()
        .replace(b"tflite_plugin_create_delegate", b"tflite_plugin_create_something")
    )
    plain = tmp_path / "libplain.so"
    plain.write_bytes(data)
    assert "has no function tflite_plugin_create_delegate" in library_problem(str(plain))[0]


@needs_compiler
def test_a_good_library_has_no_problem() -> None:
    assert library_problem(build()) == ("", "")


@needs_compiler
@pytest.mark.parametrize(("mood", "words"), [("dies", "dies with SIGSEGV"), ("wrong", "something else")])
def test_what_makes_it_end_badly_is_found_and_cut_out(mood: str, words: str) -> None:
    delegate = outlive.load_delegate(build(), {"mood": mood})
    whole = line("MUL", "SUB", "MUL", "ADD", "MUL")
    coverage = outlive.probe(whole, only=["library"], delegates=[delegate], cache=False, bisect=True)
    found = coverage["libsmall_delegate.so"].culprit
    assert found is not None
    assert (found.ops, found.types) == ((3,), ("ADD",))
    assert words in found.how
    again = outlive.probe(found.model, only=["library"], delegates=[delegate], cache=False)
    assert again["libsmall_delegate.so"].outcome == ("died" if mood == "dies" else "differs")
