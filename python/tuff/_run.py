"""Runs of programs on Tuff, and what they cost."""

import html
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import weakref
from pathlib import Path

from ._driver import environment, program


class Failed(RuntimeError):
    """`tuff` or the program failed; the message is what was said last."""


class Table:
    """Rows with named columns, which a notebook shows as a table. Numbers are counters' values; None stands for what a row lacks."""

    def __init__(self, columns, rows):
        self.columns = list(columns)
        self.rows = [list(row) for row in rows]

    def __len__(self):
        return len(self.rows)

    def __iter__(self):
        """Each row as a dictionary by column."""
        return (dict(zip(self.columns, row)) for row in self.rows)

    def __getitem__(self, column):
        """All values of a column."""
        at = self.columns.index(column)
        return [row[at] for row in self.rows]

    def to_pandas(self):
        """The same as a pandas.DataFrame; pandas must be installed."""
        import pandas

        return pandas.DataFrame(self.rows, columns=self.columns)

    def __repr__(self):
        cells = [self.columns] + [["" if v is None else str(v) for v in row] for row in self.rows]
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.columns))]
        return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip() for row in cells)

    def _repr_html_(self):
        def row(tag, values):
            cells = "".join(f"<{tag}>{'' if v is None else html.escape(str(v))}</{tag}>" for v in values)
            return f"<tr>{cells}</tr>"

        body = "".join(row("td", r) for r in self.rows)
        return f"<table><thead>{row('th', self.columns)}</thead><tbody>{body}</tbody></table>"


#: Columns of `Run.table` where none are named, by machine name.
COLUMNS = ("TuffFmaInstr", "TuffCvtInstr", "TuffSfuInstr", "MaliLSIssueCy", "MaliTexIssueCy", "MaliExtBusRdBt", "MaliExtBusWrBt")


class Run:
    """A program that has run on Tuff.

    capture: the folder of the capture (docs/capture.md); returncode: the program's; stdout, stderr: its text, if it was kept.
    """

    def __init__(self, folder, name, returncode, stdout, stderr):
        self._folder = Path(folder)
        # The capture lies as long as this object lives.
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.returncode = returncode
        self.stdout = stdout
        self.stderr = stderr
        self.capture = self._folder / name
        path = self.capture / "capture.json"
        self.data = json.loads(path.read_text()) if path.exists() else {}

    @property
    def total(self) -> dict:
        """All counters of the program by machine name (docs/counters.md)."""
        return dict(self.data.get("total", {}))

    @property
    def workloads(self) -> list:
        """Every dispatch, render pass and transfer, equal ones summed, as docs/capture.md describes them."""
        return list(self.data.get("workloads", []))

    @property
    def frames(self) -> list:
        """Counters of each frame."""
        return list(self.data.get("frames", []))

    def table(self, *counters) -> Table:
        """A row for each workload: kind, label, name, how often it ran, modelled nanoseconds, and these counters.

        Counters are machine names; without any, the most used ones; "*": all. A counter that is absent from a workload is 0.
        """
        counters = self._named(counters)
        rows = []
        for w in self.workloads:
            values = [w["counters"].get(name, 0) for name in counters]
            rows.append([w["kind"], w.get("label", ""), w["name"], w.get("times", 1), w.get("elapsed_ns"), *values])
        return Table(["kind", "label", "name", "times", "ns", *counters], rows)

    def frame_table(self, *counters) -> Table:
        """A row for each frame of each queue: device, queue, the frame's number, and these counters, as those of `table`."""
        counters = self._named(counters)
        rows = [[f["device"], f["queue"], f["frame"], *(f["counters"].get(name, 0) for name in counters)] for f in self.frames]
        return Table(["device", "queue", "frame", *counters], rows)

    def _named(self, counters):
        return tuple(self.total) if counters == ("*",) else counters or COLUMNS

    def report(self, path=None) -> Path:
        """Writes the page of `tuff report`, and returns its path. Without a path, it lies as long as this object lives."""
        path = Path(path or self._folder / "report.html")
        _tuff("report", self.capture, "-o", path)
        return path

    def _repr_html_(self):
        if not self.data:
            return "<p>Nothing ran on Tuff.</p>"
        page = html.escape(self.report().read_text(), quote=True)
        frame = f'<iframe srcdoc="{page}" style="width: 100%; height: 640px; border: 0"></iframe>'
        return self.table()._repr_html_() + frame

    def __repr__(self):
        return repr(self.table()) if self.data else "nothing ran on Tuff"


def _tuff(*arguments):
    done = subprocess.run([program(), *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        raise Failed(done.stderr.strip() or f"tuff {arguments[0]}: exit code {done.returncode}")
    return done.stdout


def _is_the_process_s(stream, number):
    """Whether what a child writes to this descriptor is seen where Python's own text is: it is not in a notebook."""
    try:
        return stream.fileno() == number
    except (OSError, ValueError, AttributeError):
        return False


def _pass_on(pipe, to, kept, hidden):
    for line in pipe:
        if hidden and line.startswith(hidden):
            continue
        if to is not None:
            to.write(line)
        kept.append(line)


def _watched(words, env, cwd, capture, hidden=None):
    """Runs a program: its exit code and its text, which is shown as it comes unless it is captured. Of stdout that needs no help nothing
    is kept, and lines that begin with `hidden` are left out."""
    helped = capture or not _is_the_process_s(sys.stdout, 1)
    child = subprocess.Popen(
        words,
        env=env,
        cwd=cwd,
        stdout=subprocess.PIPE if helped else None,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    texts = [], []
    threads = []
    for pipe, to, kept in ((child.stdout, sys.stdout, texts[0]), (child.stderr, sys.stderr, texts[1])):
        if pipe is not None:
            threads.append(threading.Thread(target=_pass_on, args=(pipe, None if capture else to, kept, hidden)))
            threads[-1].start()
    try:
        code = child.wait()
    except BaseException:
        child.terminate()
        child.wait()
        raise
    finally:
        for thread in threads:
            thread.join()
        for pipe in filter(None, (child.stdout, child.stderr)):
            pipe.close()
    return code, "".join(texts[0]), "".join(texts[1])


def run(command, *, check=True, capture_output=False, cwd=None, **settings) -> Run:
    """Runs a program, a list of words, on Tuff, with a capture of all that it does.

    check: raises Failed if the program fails. capture_output: keeps its text in the result instead of showing it. settings: as those
    of `environment`.
    """
    return _run(command, environment(**settings), check, capture_output, cwd)


def _run(command, env, check, capture_output, cwd=None, title=None):
    folder = tempfile.mkdtemp(prefix="tuff-")
    # The page's title.
    name = Path(str(title or command[0])).name.replace("\0", "") or "program"
    capture = str(Path(folder) / name)
    words = [str(program()), "run", "--capture", capture, "--", *map(str, command)]
    try:
        # How to look at the capture: its folder goes with the result.
        code, said, errors = _watched(words, env, cwd, capture_output, f"tuff: {capture}: look at it")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    result = Run(folder, name, code, said if capture_output else None, errors if capture_output else None)
    if check and code:
        raise Failed("\n".join(errors.strip().splitlines()[-20:]) or f"{words[5]}: exit code {code}")
    return result


def run_code(code: str, *, check=True, capture_output=False, cwd=None, **settings) -> Run:
    """Runs Python code in an interpreter of its own, as `run` does a program. It imports modules of the current folder, too."""
    env = environment(**settings)
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(cwd or os.getcwd()), env.get("PYTHONPATH")]))
    with tempfile.TemporaryDirectory(prefix="tuff-") as folder:
        script = Path(folder) / "cell.py"
        script.write_text(code)
        return _run([sys.executable, script], env, check, capture_output, cwd, "cell")
