"""Tests of the Python package, with the driver that TUFF_PREFIX or the installed package has."""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import tuff
from tuff import _notebook

#: A program that dispatches a shader, and one of its shaders.
PROGRAM = os.environ.get("TUFF_TEST_PROGRAM", "").split()


class Tables(unittest.TestCase):
    def test_rows_and_columns(self):
        table = tuff.Table(["name", "n"], [["<a>", 1], ["b", None]])
        self.assertEqual(table["n"], [1, None])
        self.assertEqual(list(table), [{"name": "<a>", "n": 1}, {"name": "b", "n": None}])
        self.assertEqual(repr(table), "name  n\n<a>   1\nb")
        self.assertIn("<td>&lt;a&gt;</td><td>1</td>", table._repr_html_())


class Settings(unittest.TestCase):
    def test_environment(self):
        changed = tuff.environment(gpu="g610", threads=1)
        self.assertEqual((changed["TUFF_GPU"], changed["TUFF_THREADS"]), ("g610", "1"))
        self.assertEqual(changed["VK_DRIVER_FILES"], str(tuff.icd()))
        self.assertTrue(tuff.icd().exists(), tuff.icd())

    def test_of_a_cell(self):
        self.assertEqual(_notebook.settings("gpu=g57 threads=2"), {"gpu": "g57", "threads": "2"})
        with self.assertRaises(ValueError):
            _notebook.settings("g57")


class Runs(unittest.TestCase):
    def test_counters_are_the_same_each_time(self):
        first, second = (tuff.run(PROGRAM, threads=n) for n in (1, 2))
        self.assertGreater(first.total["MaliGPUActiveCy"], 0)
        self.assertEqual(first.total, second.total)
        table = first.table("MaliGPUActiveCy")
        self.assertEqual(table.columns[-1], "MaliGPUActiveCy")
        self.assertIn("dispatch", table["kind"])
        with tempfile.TemporaryDirectory() as folder:
            page = first.report(Path(folder) / "a.html")
            self.assertIn("<html", page.read_text()[:400])
        self.assertIn("<iframe", first._repr_html_())

    def test_failures_are_told(self):
        with self.assertRaises(tuff.Failed):
            tuff.run(["false"], capture_output=True)
        self.assertEqual(tuff.run(["false"], check=False, capture_output=True).returncode, 1)

    def test_messages_are_shown_and_kept_for_failures(self):
        with self.assertRaisesRegex(tuff.Failed, "why it failed"):
            tuff.run(["sh", "-c", "echo why it failed >&2; exit 3"])
        # In a notebook, where descriptors lead to its server's terminal.
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(io.StringIO()):
            tuff.run([*PROGRAM[:1], "--no-such-file"], check=False)
            tuff.run(["sh", "-c", "echo shown"], check=False)
        self.assertIn("shown\n", shown.getvalue())

    def test_tables_of_all_counters_and_of_frames(self):
        run = tuff.run(PROGRAM)
        self.assertEqual(len(run.table("*").columns), 5 + len(run.total))
        self.assertEqual(run.frame_table("MaliGPUActiveCy").columns, ["device", "queue", "frame", "MaliGPUActiveCy"])

    def test_code_imports_what_lies_beside_it(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "beside.py").write_text("word = 'beside'")
            code = f"import beside, subprocess; print(beside.word); subprocess.run({PROGRAM!r}, check=True)"
            self.assertEqual(tuff.run_code(code, cwd=folder, capture_output=True).stdout, "beside\n")

    def test_a_running_process_is_read(self):
        with tempfile.TemporaryDirectory() as folder:
            # It goes on until its input ends.
            env = tuff.environment(listen=folder)
            words = [str(tuff.program()), "child"]
            child = subprocess.Popen(words, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

            def dispatch():
                child.stdin.write(json.dumps({"Output": {"kernel": "saxpy", "path": f"{folder}/out"}}) + "\n")
                child.stdin.flush()
                child.stdout.readline()

            dispatch()
            socket = f"{folder}/{child.pid}.sock"
            with tuff.measure("MaliGPUActiveCy", process=socket) as measured:
                dispatch()
            self.assertGreater(measured["MaliGPUActiveCy"], 0)
            with tuff.Channel(socket) as channel:
                self.assertEqual(channel.info()["process"], child.pid)
                self.assertRaises(ValueError, channel.totals, "MaliNone")
            records = tuff.Channel(socket).read("MaliGPUActiveCy")
            dispatch()
            child.stdin.close()
            kinds = [record["kind"] for record in records]
            self.assertIn("dispatch", kinds)
            self.assertEqual(child.wait(), 0)
            child.stdout.close()
            with self.assertRaisesRegex(ConnectionError, "does not listen"):
                tuff.Channel(socket)

    def test_code(self):
        code = f"import subprocess; subprocess.run({PROGRAM!r}, check=True); print('done')"
        run = tuff.run_code(code, capture_output=True)
        self.assertEqual(run.stdout, "done\n")
        self.assertTrue(run.workloads)

    def test_cells(self):
        made = {}

        class Shell:
            def register_magic_function(self, function, kind, name):
                made[kind, name] = function

        tuff.load_ipython_extension(Shell())
        run = made["cell", "tuff"]("gpu=g57", f"import subprocess; subprocess.run({PROGRAM!r}, check=True)")
        self.assertTrue(run.data["gpu"].startswith("G57"), run.data.get("gpu"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
