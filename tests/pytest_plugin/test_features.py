"""What tests use works where they run: fixtures of all scopes, capturing, marks, subtests, other plugins."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.pytest_plugin.sessions import Ran, run_session

USED = '''\
"""Everything that a test may use."""
import asyncio, logging, os, sys, threading, unittest, warnings
import pytest

pytestmark = pytest.mark.outlive
STARTED = []

@pytest.fixture(scope="session")
def lock():
    made = threading.Lock()  # cannot be pickled
    STARTED.append("session")
    yield made
    print("session fixture is torn down")

@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    STARTED.append("module")
    file = open(tmp_path_factory.mktemp("opened") / "file", "w")
    yield file
    file.close()

def test_fixtures(lock, opened):
    assert lock.acquire(blocking=False)
    opened.write("x")

def test_fixtures_are_kept(lock, opened):
    assert lock.locked() and not opened.closed
    assert STARTED == ["session", "module"]

def test_capsys(capsys):
    print("out"); print("err", file=sys.stderr)
    assert capsys.readouterr() == ("out\\n", "err\\n")

def test_capfd(capfd):
    os.write(1, b"native")
    assert capfd.readouterr().out == "native"

def test_caplog(caplog):
    logging.getLogger("a").warning("careful")
    assert caplog.messages == ["careful"]

def test_monkeypatch(monkeypatch, tmp_path):
    monkeypatch.setenv("SEEN", "1")
    monkeypatch.chdir(tmp_path)
    assert os.environ["SEEN"] == "1" and os.getcwd() == str(tmp_path)

def test_monkeypatch_is_undone():
    assert "SEEN" not in os.environ

@pytest.fixture(scope="session")
def set_for_all():
    os.environ["FOR_ALL"] = "1"

def test_sets_for_all(set_for_all):
    assert os.environ["FOR_ALL"] == "1"

def test_still_set_for_all(set_for_all):
    assert os.environ["FOR_ALL"] == "1"

@pytest.mark.parametrize("value", [1, "two", None, 3.5], ids=str)
def test_parameters(value, request):
    assert str(value) in request.node.name

@pytest.mark.parametrize("value", {f"s{number}" for number in range(40)})
def test_order_of_a_set_does_not_matter(value):
    pass

def test_skips():
    pytest.skip("not today")

@pytest.mark.skip(reason="never")
def test_marked_skip():
    pass

@pytest.mark.xfail(strict=True)
def test_expected():
    assert 0

def test_prints_and_fails():
    print("printed"); logging.getLogger("b").error("logged")
    assert 0, "on purpose"

def test_warns():
    warnings.warn("a warning of a guarded test")

def test_records(record_property):
    record_property("answer", 42)

def test_subtests(subtests):
    with subtests.test("good"):
        pass
    with subtests.test("bad"):
        assert 1 == 2

class TestUnit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = []

    def test_one(self):
        self.made.append(1)

    def test_two(self):
        self.assertEqual(self.made, [1])

async def test_asynchronous():
    await asyncio.sleep(0)
'''
SECOND = """\
import pytest
pytestmark = pytest.mark.outlive

def test_other_file(lock_of_all):
    assert lock_of_all == ["set up"]

def test_config(pytestconfig):
    assert pytestconfig.getoption("--flavour") == "sweet"
    assert pytestconfig.getini("answer") == "42"
"""
FIRST_OF_TWO = """\
import pytest
@pytest.fixture(scope="module")
def here():
    yield
    print("torn down here")
    raise RuntimeError("teardown in the main process")

def test_uses_it_here(here):
    pass

@pytest.mark.outlive
def test_guarded(here):
    pass
"""
CONFTEST = """\
import asyncio, inspect, pytest

def pytest_addoption(parser):
    parser.addoption("--flavour")
    parser.addini("answer", "")

def pytest_pyfunc_call(pyfuncitem):
    if inspect.iscoroutinefunction(pyfuncitem.obj):
        asyncio.run(pyfuncitem.obj())
        return True

@pytest.fixture(scope="session")
def lock_of_all():
    return ["set up"]
"""


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """One session with all of it."""
    return run_session(
        tmp_path_factory.mktemp("used"),
        "--flavour=sweet",
        "-k",
        "not unwanted",
        "-q",
        "--junitxml=junit.xml",
        files={"test_a.py": USED, "test_b.py": SECOND},
        conftest=CONFTEST,
        ini="answer = 42\n",
    )


def test_everything_ends_as_it_should(used: Ran) -> None:
    others = {name: end for name, end in used.outcomes().items() if end != "passed"}
    assert others == {
        "test_skips": "skipped",
        "test_marked_skip": "skipped",
        "test_expected": "xfailed",
        "test_prints_and_fails": "failed",
        "test_subtests": "failed",
    }, used.out
    assert len(used.outcomes()) == 65


def test_subtests_are_told_one_by_one(used: Ran) -> None:
    kinds = [(row["kind"], row["outcome"]) for row in used.of("test_subtests") if row["when"] == "call"]
    assert ("SubtestReport", "failed") in kinds


def test_output_and_log_of_a_failure_are_shown(used: Ran) -> None:
    sections = dict(used.failure("test_prints_and_fails")["sections"])
    assert sections["Captured stdout call"] == "printed\n"
    assert "logged" in sections["Captured log call"]
    assert "on purpose" in used.failure("test_prints_and_fails")["text"]


def test_warnings_are_listed(used: Ran) -> None:
    assert "UserWarning: a warning of a guarded test" in used.out


def test_properties_reach_the_report_file(used: Ran, tmp_path: Path) -> None:
    assert used.of("test_records")[1]["properties"] == [["answer", 42]]


def test_skips_say_where(used: Ran) -> None:
    assert "not today" in used.failure("test_skips")["text"]


def test_what_others_set_up_here_is_torn_down_here(tmp_path: Path) -> None:
    files = {"test_a.py": FIRST_OF_TWO, "test_b.py": "def test_next():\n    pass\n"}
    ran = run_session(tmp_path, files=files)
    assert ran.outcomes()["test_next"] == "passed", ran.out
    assert "teardown in the main process" in ran.out


def test_all_tests_with_the_option_and_limits_from_the_configuration(tmp_path: Path) -> None:
    test = "import os, time\ndef test_dies():\n    os.abort()\ndef test_waits():\n    time.sleep(60)\n"
    ran = run_session(tmp_path, "--outlive", files={"test_a.py": test}, ini="outlive_seconds = 1\n")
    assert ran.outcomes() == {"test_dies": "failed", "test_waits": "failed"}
    assert "D503" in ran.failure("test_waits")["text"]


@pytest.mark.parametrize("method", ["signal", "thread"])
def test_pytest_timeout_keeps_its_time_in_the_worker(tmp_path: Path, method: str) -> None:
    test = (
        "import pytest, time\npytestmark = pytest.mark.outlive\n"
        "def test_waits():\n    time.sleep(60)\ndef test_next():\n    pass\n"
    )
    words = ("-p", "pytest_timeout", "--timeout=3", f"--timeout-method={method}")
    ran = run_session(tmp_path, *words, files={"test_a.py": test})
    assert ran.outcomes() == {"test_waits": "failed", "test_next": "passed"}, ran.out
    assert "Timeout" in ran.failure("test_waits")["text"] + str(ran.failure("test_waits")["sections"])


def test_without_guards(tmp_path: Path) -> None:
    test = (
        "import os, pytest\n"
        "@pytest.mark.outlive\ndef test_a():\n    assert os.environ['P'] == str(os.getpid())\n"
    )
    set_main = "import os\nos.environ['P'] = str(os.getpid())\n"
    assert run_session(tmp_path, "--no-outlive", files={"test_a.py": test}, conftest=set_main).code == 0


@pytest.mark.parametrize(
    ("mark", "said"),
    [
        ("memory='much'", "much"),
        ("seconds=-1", "has passed already"),
        ("mem='1MB'", "takes memory=, seconds=, fresh=, off=; not mem"),
        ("'1MB'", "not '1MB'"),
    ],
)
def test_a_wrong_marker_is_usage(tmp_path: Path, mark: str, said: str) -> None:
    test = f"import pytest\n@pytest.mark.outlive({mark})\ndef test_a():\n    pass\n"
    ran = run_session(tmp_path, files={"test_a.py": test})
    assert ran.code == 4
    assert said in ran.out
    assert "Traceback" not in ran.out


def test_a_debugger_needs_the_test_here(tmp_path: Path) -> None:
    test = "import pytest\n@pytest.mark.outlive\ndef test_a():\n    pass\n"
    ran = run_session(tmp_path, "--pdb", files={"test_a.py": test})
    assert ran.code == 4
    assert "--no-outlive" in ran.out


def test_a_name_that_changes_is_told(tmp_path: Path) -> None:
    test = (
        "import os, pytest\npytestmark = pytest.mark.outlive\n"
        "@pytest.mark.parametrize('value', [os.getpid()])\ndef test_a(value):\n    pass\n"
        "def test_b():\n    pass\n"
    )
    ran = run_session(tmp_path, files={"test_a.py": test})
    assert "fixed ids" in ran.out
    assert sorted(ran.outcomes().values()) == ["error", "passed"]


def test_a_worker_that_cannot_start_is_told(tmp_path: Path) -> None:
    refuses = (
        "def pytest_sessionstart(session):\n"
        "    if session.config.pluginmanager.has_plugin('outlive-teller'):\n"
        "        raise RuntimeError('this plugin wants no workers')\n"
    )
    test = "import pytest\n@pytest.mark.outlive\ndef test_a():\n    pass\ndef test_b():\n    pass\n"
    ran = run_session(tmp_path, files={"test_a.py": test}, conftest=refuses)
    assert ran.outcomes() == {"test_a": "error", "test_b": "passed"}, ran.out
    assert "this plugin wants no workers" in ran.out
    assert "--no-outlive" in ran.out
    assert "INTERNALERROR" not in ran.out


def test_stopping_early_tears_down(tmp_path: Path) -> None:
    test = (
        "import pytest\npytestmark = pytest.mark.outlive\n"
        "@pytest.fixture(scope='session')\ndef kept():\n    yield\n    open('torn_down', 'w').close()\n"
        "def test_a(kept):\n    assert 0\ndef test_b(kept):\n    pass\n"
    )
    ran = run_session(tmp_path, "-x", files={"test_a.py": test})
    assert ran.outcomes() == {"test_a": "failed"}
    assert (tmp_path / "torn_down").exists()


def test_a_worker_of_its_own(tmp_path: Path) -> None:
    test = (
        "import os, pytest\npytestmark = pytest.mark.outlive\nSEEN = []\n"
        "def test_a():\n    SEEN.append(1)\n"
        "@pytest.mark.outlive(fresh=True)\ndef test_b():\n    assert SEEN == []\n    SEEN.append(2)\n"
        "def test_c():\n    assert SEEN == []\n"
    )
    assert run_session(tmp_path, files={"test_a.py": test}).code == 0


def test_the_plugin_costs_nothing_until_it_is_used() -> None:
    import subprocess

    program = (
        "import sys, pytest; before = set(sys.modules); import outlive.pytest_plugin; "
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not {name for name in loaded if name.split(".")[0] in ("numpy", "rich", "ai_edge_litert")}
    assert not {
        name for name in loaded if name.startswith(("outlive.process", "outlive.verbs", "outlive.rendering"))
    }
