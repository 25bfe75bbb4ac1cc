"""Where the driver is, and how programs find it."""

import os
import platform
from pathlib import Path

from ._channel import listen_folder


def prefix() -> Path:
    """The folder below which the driver is installed as in /usr: the package's own, or the one that TUFF_PREFIX names."""
    return Path(os.environ.get("TUFF_PREFIX") or Path(__file__).parent / "prefix")


def icd() -> Path:
    """The driver's manifest, as VK_DRIVER_FILES takes it."""
    return prefix() / "share" / "vulkan" / "icd.d" / f"tuff_icd.{platform.machine()}.json"


def program() -> Path:
    """The program `tuff`."""
    return prefix() / "bin" / "tuff"


def environment(**settings) -> dict:
    """The environment of a child process whose only Vulkan driver is Tuff.

    Settings are those of the driver without `TUFF_`, in small letters: `environment(threads=1, gpu="g610")`. `listen=True` stands for
    the folder that `tuff run --listen` uses.
    """
    if settings.get("listen") is True:
        settings["listen"] = listen_folder()
        # The driver makes the folder itself, for its user alone.
        listen_folder().parent.mkdir(parents=True, exist_ok=True)
    changed = {name: str(icd()) for name in ("VK_DRIVER_FILES", "VK_ICD_FILENAMES")}
    # Programs that use wgpu ignore a driver without a conformance version.
    changed["TUFF_CONFORMANCE"] = os.environ.get("TUFF_CONFORMANCE", "1.4.0.0")
    changed.update({f"TUFF_{name.upper()}": str(value) for name, value in settings.items()})
    return {**os.environ, **changed}


def use(**settings) -> None:
    """Makes Tuff the only Vulkan driver of this process.

    Call it before the first module that creates a Vulkan instance (wgpu, taichi, vulkan) does so.
    """
    os.environ.update(environment(**settings))


def main() -> None:
    """The command `tuff` of the package."""
    import sys

    os.execv(program(), ["tuff", *sys.argv[1:]])
