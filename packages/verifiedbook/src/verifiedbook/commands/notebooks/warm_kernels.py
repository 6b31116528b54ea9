"""Kernels that begin with the libraries loaded: forked from one process that has them.

Forty kernels import torch, SymPy and transformers for some five seconds each; a fork takes none.
A cell still has to import what it names. Where that process cannot serve (a library warns while it
is loaded, threads run, the system has no fork), kernels start cold, as they do without this file,
and the run says so in a line. A kernel for another instruction set, number of threads or hash seed
starts cold as well; one that imitates another processor is forked from a process of its kind.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import threading
import warnings
import weakref
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import wraps
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, cast

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.provisioning.factory import KernelProvisionerFactory
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from verifiedbook.commands.notebooks.other_processor import LOADED
from verifiedbook.serving import served

NAME = "warm"
ALSO = (
    "IPython", "ipykernel.kernelapp", "matplotlib.pyplot", "torch._dynamo", "torch.optim",
    "transformers.models.bert.modeling_bert",
)  # fmt: skip
PATIENCE = 120  # seconds in which everything is loaded; it takes six
SLOWER = "VERIFIED_PATIENCE"  # how many times as long as elsewhere things take on this machine
# What is read before a fork, and then no more.
EARLY = (
    "ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA", "MKL_ENABLE_INSTRUCTIONS", "OMP_NUM_THREADS",
    "MKL_NUM_THREADS", "PYTHONHASHSEED",
)  # fmt: skip
_ordering = threading.Lock()
_kernels: list[Kernel] = []
_cold: list[str] = []
_servers: dict[tuple[tuple[str, str], ...], subprocess.Popen[str] | None] = {}


class Kernel:
    """A forked kernel, with what `LocalProvisioner` asks of a process that is no child of ours.

    Its number may become another process's when it has ended, so that it is held by a descriptor.
    """

    stdin = stdout = stderr = None

    def __init__(self, pid: int) -> None:
        self.pid, self.seconds = pid, 0.0
        try:
            self._held: int | None = os.pidfd_open(pid)
            weakref.finalize(self, os.close, self._held)
        except ProcessLookupError:
            self._held = None

    def poll(self) -> int | None:
        """None while it lives; nobody can tell how it ended."""
        self.used()  # short ones are asked for it here alone
        ended = self._held is None or select.select([self._held], [], [], 0)[0]
        return 0 if ended else None

    def wait(self) -> int:
        """Asked only where `poll` says that it ended."""
        return 0

    def send_signal(self, number: int) -> None:
        """Send a signal, if it lives."""
        if self._held is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._held, number)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def used(self) -> float:
        """The processor's seconds that it has taken, or had when it was last asked in its life."""
        with suppress(FileNotFoundError, ProcessLookupError):
            told = Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2]
            self.seconds = sum(map(int, told.split()[11:15])) / os.sysconf("SC_CLK_TCK")
        return self.seconds


class Warm(LocalProvisioner):
    """Starts a kernel by asking the process that has the libraries loaded to fork."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Start the kernel of a command in a folder, with an environment; cold if it must be."""
        order = {"argv": cmd[cmd.index("-f") :], "cwd": kwargs["cwd"], "env": kwargs["env"]}
        early = any(kwargs["env"].get(name) != os.environ.get(name) for name in EARLY)
        kernel = None if early else _forked(order)
        if kernel is None:
            return await super().launch_kernel(cmd, **kwargs)
        with suppress(KeyError):
            kwargs["stderr"].close()  # a kernel opens its own way to nowhere
        self.process = cast("subprocess.Popen[bytes]", kernel)
        self.cwd = kwargs["cwd"]
        self.pid = self.pgid = kernel.pid
        return self.connection_info


def install(specs: type[KernelSpecManager] = KernelSpecManager) -> None:
    """Let the kernels of a manager start warm, where processes can fork."""
    if sys.platform != "linux":
        _cold.append(f"nothing forks safely on {sys.platform}")
        return
    provisioners = KernelProvisionerFactory.instance().provisioners
    provisioners[NAME] = EntryPoint(NAME, f"{__name__}:{Warm.__name__}", "verifiedbook")
    find = specs.get_kernel_spec

    @wraps(find)
    def warm(found_by: KernelSpecManager, name: str) -> KernelSpec:
        found = find(found_by, name)
        found.metadata = found.metadata | {"kernel_provisioner": {"provisioner_name": NAME}}
        return found

    setattr(specs, find.__name__, warm)


def used() -> float:
    """The processor's seconds of all kernels that this process has started."""
    return sum(kernel.used() for kernel in _kernels)


def end() -> None:
    """End the processes that fork, if there are any, and with them the kernels that are left."""
    for server in filter(None, _servers.values()):
        with suppress(BrokenPipeError), server:  # closes the way by which orders come, and waits
            pass
    _servers.clear()


def cold() -> list[str]:
    """Why kernels started cold, if they did."""
    return list(dict.fromkeys(_cold))


def _forked(order: dict[str, Any]) -> Kernel | None:
    """A new kernel, or None where there can be none."""
    kind = tuple((name, order["env"][name]) for name in LOADED if name in order["env"])
    with _ordering:  # or two threads would have each other's kernel, and end it
        if kind not in _servers:
            _servers[kind] = _server(dict(kind))
        server = _servers[kind]
        if server is None:
            return None
        try:
            print(json.dumps(order), file=server.stdin, flush=True)
            _kernels.append(Kernel(int(_told(server))))
        except (OSError, ValueError):
            _cold.append("the process that forks them ended")
            _closed(server)
            return None
        return _kernels[-1]


def _server(environment: dict[str, str]) -> subprocess.Popen[str] | None:
    """A process that forks, started with the first kernel of its kind; None if it cannot serve."""
    server = subprocess.Popen(
        [sys.executable, str(Path(__file__)), *_book()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, **environment},
        start_new_session=True,
    )
    told = _told(server)
    if told == "ready":
        _kernels.append(Kernel(server.pid))  # what it takes is accounted for as well
        return server
    _cold.append(told or "the process that forks them did not load")
    _closed(server)
    return None


def _book() -> list[str]:
    """The package of the book that is served, where it has one."""
    package = served().package
    return [package.name] if package else []


def _closed(server: subprocess.Popen[str]) -> None:
    server.kill()
    with suppress(BrokenPipeError), server:
        pass


def _told(server: subprocess.Popen[str]) -> str:
    """The next line of the process that forks; nothing where it does not come in time."""
    assert server.stdout is not None
    longest = PATIENCE * float(os.environ.get(SLOWER, "1"))
    ready, _, _ = select.select([server.stdout], [], [], longest)
    return server.stdout.readline().strip() if ready else ""


def loaded(names: Iterable[str]) -> list[str]:
    """Import modules, and return what a cell that imports them would have shown as warnings."""
    with warnings.catch_warnings(record=True) as warned:
        for name in names:
            importlib.import_module(name)
    return [f"{each.filename}:{each.lineno}: {each.message}" for each in warned]


def _names() -> Iterator[str]:
    """What notebooks use: our own modules, what those import, and what is loaded late."""
    for own in ("verifiedbook", *sys.argv[1:]):
        root = Path(str(importlib.import_module(own).__file__)).parent
        for file in sorted(root.rglob("*.py")):
            name = ".".join((own, *file.relative_to(root).with_suffix("").parts))
            # `claim` looks whether it is in a notebook when it is imported, to watch models there
            if not re.search(r"\.sphinx\b|\.startup\.|__main__$|checks\.claim$", name):
                yield name.removesuffix(".__init__")
    yield from ALSO


def _become(order: dict[str, Any]) -> None:
    """Turn this process, just forked, into a kernel."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    os.environ.clear()
    os.environ.update(order["env"])
    os.chdir(order["cwd"])
    sys.argv[1:] = order["argv"]
    from ipykernel import kernelapp

    from verifiedbook.commands.notebooks import other_processor

    other_processor.install()
    kernelapp.launch_new_instance()
    os._exit(0)  # to take down all that was loaded takes longer than many a kernel lives


def _serve() -> None:
    """Load, say so, and for each line of orders fork a kernel and print its number."""
    del sys.path[0]  # the folder of this file; notebooks find nothing there
    # Kernels ask for these two where a library is loaded, and would set them too late.
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    os.environ["JPY_PARENT_PID"] = str(os.getpid())
    faults = loaded(_names())
    from verifiedbook.account import registry

    if sys.argv[1:]:
        registry.load()  # the files of claims take a third of a second
    if threading.active_count() > 1:
        faults.append(f"{threading.active_count()} threads run, which a fork would stop")
    if faults:
        print(" ".join("; ".join(faults).split()), flush=True)
        return
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for a kernel
    print("ready", flush=True)
    for line in sys.stdin:
        number = os.fork()
        if number == 0:
            return _become(json.loads(line))
        print(number, flush=True)


if __name__ == "__main__":
    _serve()
