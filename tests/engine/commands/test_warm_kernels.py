"""A kernel that is forked is like one that is started: the same paths, names, limits and end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import nbval.kernel
import pytest
from jupyter_client.client import KernelClient
from jupyter_client.manager import start_new_kernel
from nbval.kernel import CURRENT_ENV_KERNEL_NAME, NbvalKernelspecManager, RunningKernel

from verifiedbook.commands.notebooks import warm_kernels
from verifiedbook.pytest_plugin import machine

pytestmark = pytest.mark.slow
ASKED = "import json, os, sys; print(json.dumps([sys.path, os.getcwd(), os.environ['HOME']]))"


@pytest.fixture
def warm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningKernel]:
    monkeypatch.setenv("HOME", str(tmp_path))
    warm_kernels.install(NbvalKernelspecManager)
    kernel = RunningKernel(CURRENT_ENV_KERNEL_NAME, cwd=str(tmp_path))
    yield kernel
    if hasattr(kernel, "km"):  # nbval's own word for one that was not stopped yet
        kernel.stop()


def said(client: KernelClient, code: str) -> str:
    """What a cell prints, or the name of its error."""
    number, found = client.execute(code), ""
    while True:
        message = client.get_iopub_msg(timeout=machine.patient(60))
        if message["parent_header"].get("msg_id") != number:
            continue
        content = message["content"]
        found += content.get("text", "") + content.get("ename", "")
        if content.get("execution_state") == "idle":
            return found


def test_finds_what_a_cold_one_finds(warm: RunningKernel, tmp_path: Path) -> None:
    manager, cold = start_new_kernel(cwd=str(tmp_path))
    assert isinstance(warm.km.provisioner, warm_kernels.Warm)
    assert not isinstance(manager.provisioner, warm_kernels.Warm)
    found = said(cold, ASKED)
    assert str(tmp_path) in found
    assert said(warm.kc, ASKED) == found
    cold.stop_channels()
    manager.shutdown_kernel(now=True)


@pytest.mark.canary
def test_a_name_that_no_cell_imports_is_missing(warm: RunningKernel) -> None:
    assert said(warm.kc, "torch") == "NameError"
    assert said(warm.kc, "import sys; print('torch' in sys.modules)") == "True\n"


def test_can_be_interrupted_and_ends(warm: RunningKernel) -> None:
    before = warm_kernels.used()
    warm.execute_cell_input("print('on', flush=True)\nwhile True: pass", allow_stdin=False)
    while warm.kc.get_iopub_msg(timeout=machine.patient(60))["msg_type"] != "stream":
        pass  # interrupted before it runs, the cell would run for ever
    warm.interrupt()
    assert "1\n" in said(warm.kc, "print(1)")
    assert warm_kernels.used() > before
    warm.stop()
    assert not warm.is_alive()


@pytest.mark.canary
def test_a_library_that_warns_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "import warnings\nwarnings.warn('too old')\n"
    (tmp_path / "old_library.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("warnings.filters", [])  # here they make errors of warnings
    assert warm_kernels.loaded(["json"]) == []
    assert warm_kernels.loaded(["old_library"])[0].endswith("old_library.py:2: too old")


@pytest.mark.canary
@pytest.mark.parametrize(
    ("process", "why"),
    [
        ("print('a library warns')", "a library warns"),
        ("import nowhere_to_be_found", "the process that forks them did not load"),
        ("print('ready')", "the process that forks them ended"),
    ],
)
def test_what_cannot_serve_is_named(
    process: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other.py").write_text(process, encoding="utf-8")
    monkeypatch.setattr(warm_kernels, "__file__", str(tmp_path / "other.py"))
    monkeypatch.setattr(warm_kernels, "_servers", {})
    monkeypatch.setattr(warm_kernels, "_cold", [])
    monkeypatch.setattr(warm_kernels, "_kernels", [])
    assert warm_kernels._forked({"env": {}}) is None
    assert warm_kernels.cold() == [why]


def test_then_kernels_start_cold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm_kernels, "_forked", lambda order: None)
    warm_kernels.install(NbvalKernelspecManager)
    manager, client = nbval.kernel.start_new_kernel(
        kernel_name=CURRENT_ENV_KERNEL_NAME, cwd=str(tmp_path)
    )
    assert isinstance(manager.provisioner, warm_kernels.Warm)
    assert not isinstance(manager.provisioner.process, warm_kernels.Kernel)
    assert said(client, "import sys; print('torch' in sys.modules)") == "False\n"
    client.stop_channels()
    manager.shutdown_kernel(now=True)
