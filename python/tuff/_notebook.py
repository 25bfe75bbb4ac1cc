"""The cell magic `%%tuff`."""

import shlex

from ._run import run_code


def settings(line: str) -> dict:
    """`gpu=g610 threads=1` as settings."""
    words = [word.partition("=") for word in shlex.split(line)]
    wrong = [name for name, sign, _ in words if not sign]
    if wrong:
        raise ValueError(f"{wrong[0]}: settings have the form name=value")
    return {name: value for name, _, value in words}


def register(ipython):
    """Defines the magic: the cell runs in an interpreter of its own, so it imports what it needs; its run is the cell's result."""

    def tuff(line, cell):
        run = run_code(cell, capture_output=True, check=False, **settings(line))
        if run.stdout:
            print(run.stdout, end="")
        if run.returncode:
            print(run.stderr, end="")
        return run

    ipython.register_magic_function(tuff, "cell", "tuff")
