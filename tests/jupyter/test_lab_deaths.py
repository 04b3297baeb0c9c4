"""A kernel dies in a real JupyterLab in a real Chromium, and the screen says why, with nothing typed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from outlive.meter import make_cgroup
from tests.browser.chromium import chromium
from tests.deaths.restrictions import linux_only
from tests.jupyter.jupyter_server import JupyterServer, kernel_spec, serving, wait_for
from tests.jupyter.lab_page import LabPage, notebook
from tests.jupyter.test_server_watch import DEADLY, HANG, bare_python
from tests.repetition import each_round, repeats

pytest.importorskip("jupyterlab", reason="needs JupyterLab: pip install jupyterlab")
pytestmark = linux_only
__all__ = ["bare_python"]
ten_times = each_round(1, soak=10)

OVERFLOW = """import sys
sys.setrecursionlimit(10 ** 8)
class Deep:
    def __getattr__(self, name):
        return getattr(self, "x")
Deep().x
"""
DEATHS = {
    "SIGSEGV": (
        DEADLY,
        "segmentation fault (SIGSEGV) in LOCAL_RESPONSE_NORMALIZATION (operator 3) during invoke, at cell "
        "[{0}]:4 in <module>. Invalid operator option: radius = -16 (deadly.tflite). Begin the cell with",
    ),
    "SIGABRT": (
        "import os\nos.abort()",
        "abort in native code (SIGABRT) at cell [{0}]:2 in <module>. Begin the cell with %%outlive",
    ),
    "SIGFPE": (
        "import faulthandler\nfaulthandler._sigfpe()",
        "arithmetic fault in native code (SIGFPE) at cell [{0}]:2 in <module>. Begin the cell",
    ),
    "SIGKILL": (
        "import os\nos.kill(os.getpid(), 9)",
        "killed from outside, and not for memory (SIGKILL). Find the sender in the system log",
    ),
    "os._exit": (
        "import os\nos._exit(7)",
        "it called os._exit(7) at cell [{0}]:2 in <module>. Begin the cell with %%outlive",
    ),
    "stack overflow": (
        OVERFLOW,
        "stack overflow: __getattr__ calls itself without end at cell [{0}]:5 in __getattr__",
    ),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JupyterServer]:
    with serving(tmp_path_factory.mktemp("server")) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@ten_times
@repeats
def test_each_death_is_told_where_it_happened(server: JupyterServer, browser: Any, round_number: int) -> None:
    """One notebook: each cell kills the kernel in its own way, and the next runs in the one that follows."""
    with notebook(server, browser, [source for source, _ in DEATHS.values()]) as lab:
        for place, (_, said) in enumerate(DEATHS.values()):
            lab.run(place)
            card = lab.cell(place).locator(".outlive-death .outlive-sentence")
            card.wait_for()
            assert card.inner_text().startswith(f"Cell [1] died: {said.format(1)}")
            in_dialog = lab.dialog().locator(".outlive-sentence")
            in_dialog.wait_for()
            assert in_dialog.inner_text() == card.inner_text()
            lab.accept_dialog()
            wait_for(lambda: lab.state() == "idle")  # until then Jupyter shows no other dialog
        assert "builtin::local_response_norm::Eval" in lab.cell(0).locator(".outlive-death").text_content()
        assert lab.said == []
        # It is shown, and not a part of the notebook.
        lab.page.keyboard.press("Control+s")
        saved = server.root / lab.name
        wait_for(lambda: all(not cell["outputs"] for cell in json.loads(saved.read_text())["cells"]))


@ten_times
@repeats
def test_a_kill_for_memory(server: JupyterServer, browser: Any, round_number: int) -> None:
    cgroup = make_cgroup(400_000_000)
    if cgroup is None:
        pytest.skip("needs a memory cgroup of its own, which root (or whoever it was handed to) can make")
    sources = [
        "import os; print(os.getpid())",
        "import numpy as np\nkept = []",
        "for _ in range(100):\n    kept.append(np.ones(10_000_000))",
    ]
    with cgroup, notebook(server, browser, sources) as lab:
        lab.run(0)
        lab.wait_for_prompt(0, "[1]")
        assert cgroup.add(int(lab.cell(0).locator(".jp-OutputArea-output").inner_text()))
        lab.run(1)
        item = lab.page.locator(".outlive-memory", has_text="of 381 MiB")
        item.wait_for()
        lab.run(2)
        said = lab.card().locator(".outlive-sentence").inner_text()
        assert said.startswith(
            "Cell [3] died: out of memory. This container has 381 MiB, and the kernel held "
        )
        assert "Begin the cell with %%outlive --memory " in said


def test_memory_is_shown_in_colour_before_it_is_too_late(server: JupyterServer, browser: Any) -> None:
    cgroup = make_cgroup(400_000_000)
    if cgroup is None:
        pytest.skip("needs a memory cgroup of its own, which root (or whoever it was handed to) can make")
    sources = ["import os; print(os.getpid())", "kept = bytearray(300_000_000)", "del kept"]
    with cgroup, notebook(server, browser, sources) as lab:
        lab.run(0)
        lab.wait_for_prompt(0, "[1]")
        lab.page.locator(".outlive-memory", has_text="MiB").wait_for()
        assert lab.page.locator(".outlive-nearly-full").count() == 0
        assert cgroup.add(int(lab.cell(0).locator(".jp-OutputArea-output").inner_text()))
        lab.run(1)
        full = lab.page.locator(".outlive-memory.outlive-nearly-full", has_text="; kept grew by 286 MiB")
        full.wait_for()
        assert "Fastest-growing variable: kept, 286 MiB more in cell [2]" in full.get_attribute("title")
        lab.run(2)
        lab.page.locator(".outlive-nearly-full").wait_for(state="detached")


@ten_times
@repeats
def test_a_hang_that_the_user_restarts(server: JupyterServer, browser: Any, round_number: int) -> None:
    with notebook(server, browser, ["x = 1", HANG]) as lab:
        lab.run(0)
        lab.wait_for_prompt(0, "[1]")
        lab.run(1)
        lab.wait_for_prompt(1, "[*]")
        # Not before the kernel has begun with it.
        wait_for(lambda: lab.state() == "busy")
        lab.page.locator(
            "[data-command='notebook:restart-kernel'], [title*='Restart the kernel']"
        ).first.click()
        lab.accept_dialog()
        said = lab.card().locator(".outlive-sentence").inner_text()
        assert said.startswith("Cell [2] did not end: it was still waiting after ")
        assert "at cell [2]:4 in <module>, when the kernel was restarted." in said


@ten_times
@repeats
def test_a_kernel_of_an_environment_without_outlive(
    server: JupyterServer, browser: Any, bare_python: str, round_number: int
) -> None:
    name = kernel_spec(server, f"bare{round_number}", [bare_python, "-m", "ipykernel_launcher"])
    source, said = DEATHS["SIGSEGV"]
    with notebook(server, browser, ["x = 1", source], kernel=name) as lab:
        lab.run(0)
        lab.wait_for_prompt(0, "[1]")
        lab.run(1)
        found = lab.card().locator(".outlive-sentence").inner_text()
        assert found.startswith(f"Cell [2] died: {said.format(2)}")


def test_no_alarm_at_restart_interrupt_and_quit(server: JupyterServer, browser: Any) -> None:
    with notebook(server, browser, ["x = 1", "import time; time.sleep(3600)", "quit()", "y = 2"]) as lab:
        lab.run(0)
        lab.wait_for_prompt(0, "[1]")
        lab.page.locator(
            "[data-command='notebook:restart-kernel'], [title*='Restart the kernel']"
        ).first.click()
        lab.accept_dialog()
        lab.run(0)
        lab.wait_for_prompt(0, "[1]")
        lab.run(1)
        wait_for(lambda: lab.state() == "busy")
        server.ask(f"api/kernels/{lab.kernel()}/interrupt", method="POST")
        lab.wait_for_prompt(1, "[2]")
        lab.run(2)
        lab.dialog()  # Jupyter's own says that the kernel died, and we have nothing to add
        assert lab.page.locator(".outlive-sentence").count() == 0
        lab.accept_dialog()
        lab.run(3)
        lab.wait_for_prompt(3, "[1]")
        assert lab.page.locator(".outlive-sentence").count() == 0
        assert not [death for death in server.deaths() if death["kernel"] == lab.kernel()]


@pytest.fixture
def dead(server: JupyterServer, browser: Any) -> Iterator[LabPage]:
    """A notebook whose second cell has died, and whose dialog is gone."""
    with notebook(server, browser, ["x = 1", "import os\nos.abort()"]) as lab:
        lab.run(0)
        lab.wait_for_prompt(0, "[1]")
        lab.run(1)
        lab.card()
        lab.dialog()
        lab.accept_dialog()
        yield lab


def test_every_button_does_what_it_says(server: JupyterServer, dead: LabPage) -> None:
    page, card = dead.page, dead.card()
    card.get_by_role("button", name="Run cells above").click()
    dead.wait_for_prompt(0, "[1]")
    card.get_by_role("button", name="Copy for a bug report").click()
    card.get_by_text("Copied.").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("Cell [2] died: abort in native code (SIGABRT)")
    assert "os.abort()" in copied
    card.get_by_role("button", name="Restart protected").click()
    card.get_by_text("The kernel was restarted, and is protected.").wait_for()
    card.get_by_role("button", name="Keep in notebook").click()
    page.locator(".outlive-death").wait_for(state="detached")
    assert (
        "Segmentation" in (kept := dead.cell(1).locator(".jp-OutputArea").inner_text()) or "SIGABRT" in kept
    )
    assert dead.said == []


def test_details_and_the_list_of_deaths(server: JupyterServer, dead: LabPage) -> None:
    page = dead.page
    for _ in range(2):
        page.locator(".lm-TabBar-tab", has_text=dead.name).first.click()
        dead.card().get_by_role("button", name="Details").click()
        page.frame_locator(".outlive-page iframe").get_by_text("SIGABRT").first.wait_for()
    assert page.locator(".lm-TabBar-tab[data-id^='outlive-death-']").count() == 1
    page.locator(".lm-TabBar-tab[data-id='outlive-kernel-deaths']").click()
    listed = page.locator(".outlive-list li")
    listed.first.wait_for()
    assert "Cell [2] died: abort in native code (SIGABRT)" in listed.first.inner_text()


def test_the_keyboard_reaches_every_button_and_screen_readers_are_told(dead: LabPage) -> None:
    page, card = dead.page, dead.card()
    assert card.get_attribute("role") == "region"
    assert card.locator(".outlive-sentence").get_attribute("role") == "alert"
    buttons = card.get_by_role("button")
    buttons.first.focus()
    for place in range(1, buttons.count()):
        page.keyboard.press("Tab")
        assert buttons.nth(place).evaluate("node => node === document.activeElement")
    page.keyboard.press("Enter")  # the last one dismisses the card
    page.locator(".outlive-death").wait_for(state="detached")
    assert page.evaluate("document.activeElement.closest('.jp-Notebook') !== null")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_can_be_read_in_light_and_dark(server: JupyterServer, browser: Any, theme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    settings = "lab/api/settings/@jupyterlab/apputils-extension:themes"
    server.ask(settings, method="PUT", body={"raw": json.dumps({"theme": f"JupyterLab {theme.title()}"})})
    # The system's colours are those that Jupyter does not have.
    with notebook(server, browser, [DEATHS["SIGABRT"][0]], scheme=OTHER[theme]) as lab:
        lab.run(0)
        lab.card().locator("summary").first.click()
        lab.dialog().locator(".outlive-sentence").wait_for()
        assert_accessible(axe, lab, ".jp-Dialog .outlive-sentence")
        lab.accept_dialog()
        assert_accessible(axe, lab, ".outlive-death")
        lab.page.locator(".outlive-memory", has_text="MiB").wait_for()
        lab.page.locator(".outlive-memory").evaluate("node => node.classList.add('outlive-nearly-full')")
        assert_accessible(axe, lab, ".outlive-memory")
        lab.card().get_by_role("button", name="Details").click()
        page = lab.page.frame_locator(".outlive-page iframe")
        page.get_by_role("button", name="Copy").first.click()
        wait_for(lambda: lab.page.evaluate("navigator.clipboard.readText()") == "%%outlive")
        assert page.locator("html").get_attribute("data-theme") == theme
        lab.page.locator(".lm-TabBar-tab[data-id='outlive-kernel-deaths']").click()
        lab.page.locator(".outlive-list li").first.wait_for()
        assert_accessible(axe, lab, ".outlive-list")


OTHER = {"light": "dark", "dark": "light"}


def assert_accessible(axe: Any, lab: LabPage, context: str) -> None:
    results = axe.Axe().run(lab.page, context=context)
    assert results.violations_count == 0, results.generate_report()


def test_notebook_7_shows_the_same(server: JupyterServer, browser: Any) -> None:
    pytest.importorskip("notebook", reason="needs Notebook 7: pip install notebook")
    source, said = DEATHS["os._exit"]
    with notebook(server, browser, ["x = 1", source], address="notebooks") as lab:
        lab.run(0)
        lab.wait_for_prompt(0, "[1]")
        lab.run(1)
        found = lab.card().locator(".outlive-sentence").inner_text()
        assert found.startswith(f"Cell [2] died: {said.format(2)}")
        assert lab.dialog().locator(".outlive-sentence").inner_text() == found
        lab.accept_dialog()
        lab.card().get_by_role("button", name="Details").click()  # there are no tabs: a dialog
        lab.page.frame_locator(".jp-Dialog .outlive-page iframe").get_by_text("os._exit").first.wait_for()
        lab.accept_dialog()


def test_what_is_built_is_of_these_sources() -> None:
    root = Path(__file__).parents[2] / "jupyterlab"
    built = json.loads((root / "built_from.json").read_text())
    assert built == {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(
            [
                *root.glob("src/*"),
                *root.glob("style/*"),
                root / "package.json",
                root / "tsconfig.json",
                root / "package-lock.json",
            ]
        )
    }, "the sources have changed: .venv/bin/python tools/build_labextension.py"
