"""Build the compiled loop while a wheel or an editable install is made.

Without a C compiler nothing happens: the package then counts with NumPy.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).with_name("count.c")
LIBRARY = SOURCE.with_suffix(".so")


def get_build_hook() -> type:
    """Give hatchling its hook; only while it builds can hatchling be imported."""
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface

    return type("Kernel", (BuildHookInterface,), {"initialize": initialize})


def initialize(hook: Any, version: str, build_data: dict[str, Any]) -> None:
    """Compile; if that went well, the wheel is one for this platform."""
    LIBRARY.unlink(missing_ok=True)
    if not compiled():
        return
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    build_data["artifacts"].append("/judgelab/_kernel/count.so")
    build_data["pure_python"] = False
    # The library knows nothing of Python: any version of it will do.
    build_data["tag"] = f"py3-none-{platform}"


def compiled() -> bool:
    """Compile with the compiler that CC names, or with the first one found."""
    found = next(filter(shutil.which, ("cc", "gcc", "clang")), "cc")
    compiler = shlex.split(os.environ.get("CC", "")) or [found]
    command = [*compiler, "-O3", "-shared", "-fPIC", "-o", str(LIBRARY), str(SOURCE)]
    try:
        subprocess.run(command, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return False
    # A compiler that does nothing, such as `true`, succeeds as well.
    return LIBRARY.exists()
