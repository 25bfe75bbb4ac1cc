"""The channel of a running process (docs/channel.md): totals, workloads and marks, while it runs."""

import contextlib
import json
import os
import socket
from pathlib import Path


def listen_folder() -> Path:
    """Where processes listen that `tuff run --listen` starts."""
    own = os.environ.get("XDG_RUNTIME_DIR", "")
    if own.startswith("/"):
        return Path(own) / "tuff"
    state = os.environ.get("XDG_STATE_HOME", "")
    return (Path(state) if state.startswith("/") else Path.home() / ".local" / "state") / "tuff" / "listen"


def _socket(process) -> Path:
    text = str(process)
    if "/" in text:
        return Path(text)
    return Path(os.environ.get("TUFF_LISTEN") or listen_folder()) / f"{text}.sock"


class Channel:
    """A connection to a process that listens: by its number or its socket's path; without one, this process after `use(listen=True)`."""

    def __init__(self, process=None, timeout=10.0):
        path = _socket(os.getpid() if process is None else process)
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(timeout)
        try:
            self._socket.connect(str(path))
        except OSError as e:
            self._socket.close()
            raise ConnectionError(f"{path}: {e.strerror}: the process does not listen, or has no Vulkan device yet") from e
        self._lines = self._socket.makefile("r", encoding="utf-8")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._lines.close()
        self._socket.close()

    def _ask(self, what, counters=()):
        self._socket.sendall((" ".join([what, *counters]) + "\n").encode())
        return self._next()

    def _next(self):
        line = self._lines.readline(1 << 20)
        if not line.endswith("\n"):
            raise ConnectionError("the process has ended")
        answer = json.loads(line)
        if "error" in answer:
            raise ValueError(answer["error"])
        return answer

    def info(self) -> dict:
        """The process, its modelled GPU and its counters."""
        return self._ask("info")

    def totals(self, *counters) -> dict:
        """Counters, by machine name, of everything that has finished so far; without names, all of them."""
        return self._ask("totals", counters or ("*",))["totals"]

    def read(self, *counters):
        """Each workload and mark that finishes from now on, as a dictionary, until the process ends; then the connection is used up."""
        self._ask("read", counters)
        self._socket.settimeout(None)
        return self._records()

    def _records(self):
        try:
            while True:
                answer = self._next()
                if "ended" in answer:
                    return
                if "kind" in answer:
                    yield answer
        except ConnectionError:
            return
        finally:
            self.close()


@contextlib.contextmanager
def measure(*counters, process=None):
    """What a process (by default this one, after `use(listen=True)`) counts within a `with` statement.

    It yields a dictionary that is filled at the end. Only work that the GPU has finished counts: wait for it first.
    """
    with Channel(process) as channel:
        before = channel.totals(*counters)
        # Ratios of sums are no differences of ratios.
        floats = {c["machine"] for c in channel.info()["counters"] if c["float"]}
        wrong = floats.intersection(counters)
        if wrong:
            raise ValueError(f"{min(wrong)} is a ratio, which has no difference")
        result = {}
        yield result
        after = channel.totals(*counters)
        result.update({name: after[name] - before[name] for name in before if name not in floats})
