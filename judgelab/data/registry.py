"""Published figures and counts that the package carries; raw records that it fetches.

Three kinds of data, three functions: `published` gives a table as the paper printed it,
`counts` gives the small tables from which the book recomputes it, and `fetch` brings
the raw records from their public home, checked byte for byte.
"""

from __future__ import annotations

import csv
import hashlib
import os
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_cache_dir

from judgelab.errors import ChecksumMismatch, DownloadError, ValidationError

if TYPE_CHECKING:
    import pandas as pd

CACHE_VARIABLE = "JUDGELAB_CACHE"
"""Environment variable: where fetched files are kept instead of the user's cache."""

LOCAL_VARIABLE = "JUDGELAB_DATA"
"""Environment variable: a folder with one subfolder of raw records per source."""

_TIMEOUT = 30
"""Seconds of silence after which a connection counts as broken."""

_PAUSES = (1.0, 4.0)
"""Seconds to wait before the second and the third attempt at a download."""


@dataclass(frozen=True)
class File:
    """One raw file of a source.

    Parameters
    ----------
    name : str
        Path below the folder of the source, with forward slashes.
    address : str
        Public address, pinned so that it always means the same bytes.
    sha256 : str, default ""
        Checksum of those bytes, 64 hexadecimal digits.
    blob : str, default ""
        The id that git gives to those bytes, 40 hexadecimal digits: SHA-1 over
        ``blob``, a space, the size in bytes, a zero byte and the content. It guards
        against errors, less well than `sha256` against intent.

    Raises
    ------
    ValidationError
        If there is neither checksum.
    """

    name: str
    address: str
    sha256: str = ""
    blob: str = ""

    def __post_init__(self) -> None:
        if not self.sha256 and not self.blob:
            raise ValidationError(f"file {self.name!r} needs a checksum")

    @property
    def checksum(self) -> str:
        """The beginning of the checksum, for messages."""
        kind, value = ("sha256", self.sha256) if self.sha256 else ("git id", self.blob)
        return f"{kind} should be {value[:12]}…"

    def is_content(self, content: bytes) -> bool:
        """Whether these bytes are the pinned ones, by every checksum that is known."""
        return (
            not self.sha256 or hashlib.sha256(content).hexdigest() == self.sha256
        ) and (not self.blob or blob_id(content) == self.blob)


def blob_id(content: bytes) -> str:
    r"""Which id does git give to this content?

    Notes
    -----
    Chapter: *JudgeBench*.

    Examples
    --------
    >>> blob_id(b"hello\n")
    'ce013625030ba8dba906f756967f9e9ca394464a'
    """
    header = f"blob {len(content)}\0".encode()
    return hashlib.sha1(header + content, usedforsecurity=False).hexdigest()


@dataclass(frozen=True)
class Source:
    """Where a set of raw records comes from and on which terms.

    Parameters
    ----------
    name : str
        Short name, which is also the name of the folder.
    title, citation, licence : str
        What it is, how to cite it, and the terms of its owners.
    files : tuple of File
        The files that are needed.
    """

    name: str
    title: str
    citation: str
    licence: str
    files: tuple[File, ...]


def _pins() -> dict[str, tuple[File, ...]]:
    lines = _folder().joinpath("pins.csv").read_text("utf-8").splitlines()
    pins: dict[str, tuple[File, ...]] = {}
    for row in csv.DictReader(line for line in lines if not line.startswith("#")):
        file = File(row["file"], row["address"], row["sha256"], row["blob"])
        pins[row["source"]] = (*pins.get(row["source"], ()), file)
    return pins


def _folder() -> Path:
    return Path(str(resources.files("judgelab.data")))


_PINS = _pins()

SOURCES = {
    source.name: source
    for source in (
        Source(
            "mtbench",
            "MT-bench: 3,355 human and 2,400 GPT-4 votes, without the conversations",
            "Zheng et al. (2023), arXiv:2306.05685; lmsys/mt_bench_human_judgments",
            "CC-BY-4.0, LMSYS Org",
            _PINS["mtbench"],
        ),
        Source(
            "judgebench",
            "JudgeBench: both sets of pairs, and the verdicts of seven judges",
            "Tan et al. (2025), arXiv:2410.12784; ScalerLab/JudgeBench",
            "no licence file; read for research, not passed on",
            _PINS["judgebench"],
        ),
        Source(
            "llmjudge",
            "LLMJudge: 33 public submissions and the human relevance labels",
            "Rahmani et al. (2025), arXiv:2502.13908; llm4eval/LLMJudge-benchmark",
            "MIT (submissions); the repository of the labels has no licence file",
            _PINS["llmjudge"],
        ),
    )
}
"""The raw records that can be fetched, with their terms and pins."""

MORE_JUDGEBENCH = _PINS["judgebench-more"]
"""The outputs of JudgeBench's other judges: large, and pinned by git id alone."""


def published(source: str, table: str) -> pd.DataFrame:
    """Which figures did the paper print?

    Parameters
    ----------
    source : str
        A folder of published tables: ``"mtbench"``, ``"judgebench"``, ``"llmjudge"``,
        ``"mtsair"`` or ``"rankjudge"``; or ``"askmodel"``, our own examples.
    table : str
        Name of the table, such as ``"table5"``; `tables` lists them.

    Returns
    -------
    pandas.DataFrame
        The figures as printed, one row each; where they come from and what is doubtful
        about them stands in ``frame.attrs["header"]``.

    Raises
    ------
    ValidationError
        If there is no such source or table; the message lists those that exist.

    Notes
    -----
    Chapter: *MT-bench and Chatbot Arena*.

    Examples
    --------
    >>> published("mtbench", "table3")
           judge  failure_rate_pct  n_answers
    0  Claude-v1              91.3         23
    1    GPT-3.5              91.3         23
    2      GPT-4               8.7         23
    """
    return _shipped(source, table, kind="").copy()


def counts(source: str, name: str) -> pd.DataFrame:
    """From which counts does the book recompute the paper's figures?

    The counts are derived from public raw records by functions of this package, and a
    test derives them anew. They are not records: no row belongs to one vote.

    Parameters
    ----------
    source : str
        A folder of shipped counts: ``"mtbench"``.
    name : str
        Name of the counts, such as ``"vote_patterns"``.

    Returns
    -------
    pandas.DataFrame
        One row per distinct combination, and how often it occurs; source and licence
        in ``frame.attrs["header"]``.

    Raises
    ------
    ValidationError
        If there is no such source or name; the message lists those that exist.

    Notes
    -----
    Chapter: *MT-bench and Chatbot Arena*.

    Examples
    --------
    >>> int(counts("mtbench", "vote_patterns")["keys"].sum())
    2400
    """
    return _shipped(source, name, kind="counts").copy()


def tables(source: str) -> list[str]:
    """Which published tables of a source does the package carry?

    Notes
    -----
    Chapter: *MT-bench and Chatbot Arena*.

    Examples
    --------
    >>> tables("mtsair")
    ['leaderboard']
    """
    return _names(source, kind="")


def write_tables(folder: Path, header: str, frames: Mapping[str, pd.DataFrame]) -> None:
    """Write tables as the package ships them: a header, then comma-separated values.

    Parameters
    ----------
    folder : pathlib.Path
        Where the files go, one per table.
    header : str
        Lines that begin with ``#``: source and licence.
    frames : mapping of str to pandas.DataFrame
        The tables by name.

    Notes
    -----
    Maintainers use it through the papers' ``write_counts``. Chapter: *MT-bench and
    Chatbot Arena*.
    """
    for name, frame in frames.items():
        text = frame.to_csv(index=False, lineterminator="\n")
        Path(folder, f"{name}.csv").write_text(header + text, "utf-8")


def fetch(source: str | Source) -> Path:
    """Where on this machine are the raw records, complete and unchanged?

    A folder named by the environment variable ``JUDGELAB_DATA`` comes first: if it has
    a subfolder for the source, that is used. Otherwise files are downloaded once, into
    the user's cache (or the folder named by ``JUDGELAB_CACHE``). Either way every file
    is compared with its pinned checksum. A download gets its name only when it is
    verified.

    Parameters
    ----------
    source : str or Source
        A name in `SOURCES`, or a source of your own.

    Returns
    -------
    pathlib.Path
        The folder that holds the files of the source.

    Raises
    ------
    ValidationError
        If the name is unknown, ``JUDGELAB_DATA`` is no folder, or files are missing
        from the folder of the source there.
    DownloadError
        If a file can't be fetched; nothing half-written is left behind.
    ChecksumMismatch
        If a file isn't the one that was pinned.

    Notes
    -----
    Chapter: *MT-bench and Chatbot Arena*.

    Examples
    --------
    >>> fetch("mtbnech")
    Traceback (most recent call last):
      ...
    judgelab.errors.ValidationError: no source 'mtbnech'; there are: judgebench,
    llmjudge, mtbench
    """
    if isinstance(source, str):
        if source not in SOURCES:
            raise ValidationError(
                f"no source {source!r}; there are: {', '.join(sorted(SOURCES))}"
            )
        source = SOURCES[source]
    root = os.environ.get(LOCAL_VARIABLE)
    if root and not Path(root).is_dir():
        raise ValidationError(
            f"{LOCAL_VARIABLE} is {root!r}, which is no folder; correct it, or unset "
            "it to download"
        )
    if root and (local := Path(root, source.name)).is_dir():
        _verify_local(source, local)
        return local
    return _download(source)


def _verify_local(source: Source, folder: Path) -> None:
    missing = [file.name for file in source.files if not (folder / file.name).is_file()]
    if missing:
        raise ValidationError(
            f"{folder} lacks {len(missing)} of {len(source.files)} files: "
            f"{', '.join(missing[:3])}; complete the folder, or unset {LOCAL_VARIABLE} "
            "to download"
        )
    for file in source.files:
        if not file.is_content((folder / file.name).read_bytes()):
            raise ChecksumMismatch(
                f"{folder / file.name} is not the pinned file ({file.checksum}); "
                f"replace it by the file at {file.address}, or unset {LOCAL_VARIABLE} "
                "to download"
            )


def cache_folder(name: str) -> Path:
    """Where is what was fetched under this name kept? The folder need not exist.

    Notes
    -----
    Chapter: *MT-bench and Chatbot Arena*.
    """
    root = os.environ.get(CACHE_VARIABLE) or user_cache_dir("judgelab", appauthor=False)
    return Path(root, name)


def _download(source: Source) -> Path:
    folder = cache_folder(source.name)
    for file in source.files:
        target = folder / file.name
        if not (target.is_file() and file.is_content(target.read_bytes())):
            _retrieve(source, file, target)
    return folder


def _retrieve(source: Source, file: File, target: Path) -> None:
    """Download under a temporary name; only verified content gets the real one."""
    # Imported here: reading shipped tables must not load an HTTP client.
    import requests

    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, suffix=".part")
    os.close(handle)
    part = Path(name)
    by_hand = (
        f"put a good copy into a folder <data>/{source.name} and set "
        f"{LOCAL_VARIABLE}=<data>. The book and its shipped counts work without it"
    )
    try:
        for pause in (*_PAUSES, None):
            try:
                _stream(file.address, part)
                break
            except (requests.RequestException, OSError) as error:
                if pause is None or not _may_pass(error):
                    raise DownloadError(
                        f"could not fetch {file.address} ({_reason(error)}); nothing "
                        f"was kept. Check the network, or {by_hand}"
                    ) from error
                time.sleep(pause)
        if not file.is_content(part.read_bytes()):
            raise ChecksumMismatch(
                f"{file.address} no longer gives the pinned file ({file.checksum}); "
                f"nothing was kept. Try again; if it stays so, {by_hand}"
            )
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


def _stream(address: str, part: Path) -> None:
    import requests

    with (
        requests.get(address, stream=True, timeout=_TIMEOUT) as response,
        part.open("wb") as out,
    ):
        response.raise_for_status()
        for chunk in response.iter_content(1 << 16):
            out.write(chunk)


def _reason(error: Exception) -> str:
    import requests

    broken = requests.ConnectionError, requests.Timeout
    if isinstance(error, (*broken, requests.exceptions.ChunkedEncodingError)):
        return "no connection, or it broke"
    return str(error)


def _may_pass(error: Exception) -> bool:
    """Whether trying again may help: a busy server, a broken line; not "not found"."""
    response = getattr(error, "response", None)
    return (
        response is None or response.status_code >= 500 or response.status_code == 429
    )


@cache
def _shipped(source: str, name: str, kind: str) -> pd.DataFrame:
    import pandas as pd

    if name not in (names := _names(source, kind)):
        raise ValidationError(
            f"no table {name!r} of {source!r}; there are: {', '.join(names)}"
        )
    text = (_folder() / source / kind / f"{name}.csv").read_text("utf-8")
    header = [line[2:] for line in text.splitlines() if line.startswith("# ")]
    frame = pd.read_csv(_folder() / source / kind / f"{name}.csv", skiprows=len(header))
    frame.attrs["header"] = header
    return frame


def _names(source: str, kind: str) -> list[str]:
    names = sorted(path.stem for path in (_folder() / source / kind).glob("*.csv"))
    if not names or not source:
        have = sorted({p.parent.name for p in _folder().glob("*/*.csv")})
        raise ValidationError(
            f"nothing is shipped for source {source!r}; there are: {', '.join(have)}"
        )
    return names
