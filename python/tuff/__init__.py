"""Tuff, a GPU in software, for Python: run programs and notebook cells on it, and read what they cost.

    import tuff
    run = tuff.run(["./program"])
    run.total["TuffFmaInstr"]
    run.report("frame.html")

The package brings the driver, the layer and the program `tuff`; the Vulkan loader (Debian's libvulkan1) is the system's.
"""

from ._channel import Channel, listen_folder, measure
from ._driver import environment, icd, prefix, program, use
from ._run import Failed, Run, Table, run, run_code

__version__ = "@VERSION@"

__all__ = [
    "Channel",
    "Failed",
    "Run",
    "Table",
    "environment",
    "icd",
    "listen_folder",
    "measure",
    "prefix",
    "program",
    "run",
    "run_code",
    "use",
]


def load_ipython_extension(ipython):
    """`%load_ext tuff` in a notebook: the cell magic `%%tuff`."""
    from ._notebook import register

    register(ipython)
