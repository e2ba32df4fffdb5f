"""The log of a run: every question and every reply, written before it counts.

One SQLite file, to which rows are only ever added (triggers refuse anything else), and
in which a request has one reply at most (an index refuses a second). A failure is a row
too, but never an answer: what failed is asked again. The file has two tables,
``requests`` and ``outcomes``, and the view ``replies`` that joins them.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgelab.errors import JudgelabError
from judgelab.models.request import AskError, Message, Reply, Request, whole

if TYPE_CHECKING:
    import pandas as pd

NOT_ASKED = "not asked yet"
"""The error of a request that has no outcome."""

_MARK = 0x4A4C4F47
"""Kind of file, as SQLite keeps it in the header: "JLOG"."""

_VERSION = 1
"""Version of the tables; raised when they change."""

_TABLES = f"""
CREATE TABLE requests (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE, -- hash of identity and request
    identity TEXT NOT NULL,   -- who is asked
    tags TEXT NOT NULL,       -- what it is about: a JSON object
    trial INTEGER NOT NULL,
    request TEXT NOT NULL     -- all of it: a JSON object
);
CREATE TABLE outcomes (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL REFERENCES requests (key),
    at REAL NOT NULL,         -- seconds since 1970
    seconds REAL NOT NULL,    -- how long it took
    text TEXT,                -- NULL where there is no reply
    finish TEXT,
    first_token TEXT,         -- a JSON object: token to log-probability
    prompt_tokens INTEGER,
    completion_tokens INTEGER,
    model TEXT,
    fingerprint TEXT,
    fallbacks TEXT,           -- a JSON array
    error TEXT,
    passing INTEGER,
    CHECK ((text IS NULL) = (error IS NOT NULL))
);
CREATE INDEX outcomes_of ON outcomes (key);
CREATE UNIQUE INDEX one_reply ON outcomes (key) WHERE error IS NULL;
CREATE VIEW replies AS
    SELECT r.key, r.identity, r.tags, r.trial, o.text, o.finish, o.first_token,
           o.prompt_tokens, o.completion_tokens, o.model, o.fingerprint, o.fallbacks,
           CASE WHEN o.id IS NULL THEN '{NOT_ASKED}' ELSE coalesce(o.error, '') END
           AS error,
           (SELECT count(*) FROM outcomes AS a WHERE a.key = r.key) AS attempts,
           o.at, o.seconds, r.request
    FROM requests AS r LEFT JOIN outcomes AS o ON o.id = (
        SELECT id FROM outcomes AS a WHERE a.key = r.key
        ORDER BY a.error IS NULL DESC, a.id DESC LIMIT 1
    )
    ORDER BY r.id;
""" + "".join(
    f"CREATE TRIGGER {table}_{action} BEFORE {action} ON {table} "
    "BEGIN SELECT RAISE(ABORT, 'rows of this log are never changed'); END;\n"
    for table in ("requests", "outcomes")
    for action in ("UPDATE", "DELETE")
)


class LogError(JudgelabError, OSError):
    """A log cannot be used: held by another run, foreign, damaged or unwritable."""


@dataclass(frozen=True)
class Answer:
    """A request of a log and what came of it.

    Parameters
    ----------
    identity : str
        Who was asked.
    request : Request
        What was asked.
    reply : Reply or None
        What came back; None if nothing did.
    error : str
        Why nothing came back; empty if something did.
    """

    identity: str
    request: Request
    reply: Reply | None
    error: str


class Log:
    """An append-only log of requests, replies and failures, in one file.

    It holds no open file, only the path, and so can be sent to another process. One run
    at a time may write; anyone may read meanwhile.

    Parameters
    ----------
    path : str or pathlib.Path
        The file; made if there is none. Its folder must exist.

    Raises
    ------
    LogError
        If the file is no log, is damaged, or was written by another version.

    Notes
    -----
    A reply that counts survives the end of the process, however sudden (SQLite's
    write-ahead log). After a power cut the last seconds may be lacking, and are asked
    again.

    Chapter: *Ask a real model*.

    Examples
    --------
    >>> import tempfile
    >>> from judgelab.models.request import Message, Reply, Request
    >>> request = Request((Message("user", "Which is better?"),), tags={"item": "q1"})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = Log(f"{folder}/run.sqlite")
    ...     with log.writing() as writer:
    ...         writer.expect("some model", [request])
    ...         writer.reply(request.key("some model"), Reply("A"), seconds=0.2)
    ...     log.replies()[["item", "text", "error", "attempts"]]
      item text error  attempts
    0   q1    A               1
    """

    def __init__(self, path: str | Path) -> None:
        # Of two names of one file only one can hold the lock beside it.
        self.path = Path(path).resolve()
        if not self.path.parent.is_dir():
            raise LogError(f"there is no folder {self.path.parent}; make it first")
        with self._connection() as connection:
            self._check(connection)

    def __repr__(self) -> str:
        return f"Log({str(self.path)!r})"

    @contextmanager
    def writing(self) -> Iterator[Writer]:
        """Hold the log for one run; a second run is refused until this one ends.

        Raises
        ------
        LogError
            If another run, of this process or of another, holds the log.
        """
        # SQLite's own lock, on a file beside: on every system it ends with the process.
        lock = sqlite3.connect(f"{self.path}.lock", timeout=0, isolation_level=None)
        try:
            try:
                lock.execute("BEGIN EXCLUSIVE")
            except sqlite3.OperationalError:
                raise LogError(
                    f"{self.path.name} is in use by another run; wait for it, or give "
                    "this run a log of its own"
                ) from None
            with self._connection() as connection:
                yield Writer(connection)
        finally:
            lock.close()

    def replies(self) -> pd.DataFrame:
        """Read every request with its reply, or else with its last error.

        Returns
        -------
        pandas.DataFrame
            One row per request, in the order in which they were first asked: ``key``,
            ``identity``, one column per tag, ``trial``, ``text``, ``finish``,
            ``first_token`` (JSON), ``prompt_tokens``, ``completion_tokens``, ``model``,
            ``fingerprint``, ``fallbacks`` (JSON), ``error`` (empty where there is a
            reply), ``attempts``, ``at`` (UTC), ``seconds``, ``tags`` and ``request``
            (JSON). A tag with the name of a column stands in ``tags`` alone.
        """
        import pandas as pd

        with self._connection() as connection:
            found = connection.execute("SELECT * FROM replies")
            names = [column[0] for column in found.description]
            rows = pd.DataFrame(found.fetchall(), columns=names)
        rows["at"] = pd.to_datetime(rows["at"], unit="s", utc=True)
        for name in ("prompt_tokens", "completion_tokens"):
            rows[name] = rows[name].astype("Int64")
        tags = pd.DataFrame([json.loads(text) for text in rows["tags"]], rows.index)
        tags = tags[[name for name in tags if name not in rows]]
        front = ["key", "identity"]
        back = [name for name in rows if name not in (*front, "tags", "request")]
        return pd.concat(
            [rows[front], tags, rows[[*back, "tags", "request"]]], axis="columns"
        )

    def answers(self, **tags: str) -> Iterator[Answer]:
        """Give every request with its reply, as they were, for parsing anew.

        Parameters
        ----------
        **tags : str
            Only requests with these tags, as ``prompt="pairwise"``.
        """
        with self._connection() as connection:
            connection.row_factory = sqlite3.Row
            for row in connection.execute("SELECT * FROM replies"):
                request = _request(json.loads(row["request"]))
                if all(request.tags.get(name) == text for name, text in tags.items()):
                    reply = None if row["error"] else _reply(row)
                    yield Answer(row["identity"], request, reply, row["error"])

    def known(self, keys: Iterable[str]) -> dict[str, Reply]:
        """Look up which of these requests have a reply, and which.

        Parameters
        ----------
        keys : iterable of str
            From `Request.key`.
        """
        with self._connection() as connection:
            return _known(connection, keys)

    def to_parquet(self, path: str | Path) -> None:
        """Write `replies` as a Parquet file, for any engine (needs PyArrow)."""
        self.replies().to_parquet(path, index=False)

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        try:
            # A run in a notebook uses it in another thread, never in two at once.
            connection = sqlite3.connect(
                self.path, isolation_level=None, check_same_thread=False
            )
            try:
                yield connection
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise LogError(
                f"{self.path.name} cannot be used as a log: {error}; if it is damaged, "
                "begin another file"
            ) from error

    def _check(self, connection: sqlite3.Connection) -> None:
        """Make the tables in a new file; refuse one that is not a log."""
        # A foreign file must stay as it is: nothing is set before this is known.
        if _kind(connection) is None:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("BEGIN IMMEDIATE")
            if _kind(connection) is None:  # no other process was faster
                for statement in _statements(_TABLES):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {_MARK}")
                connection.execute(f"PRAGMA user_version = {_VERSION}")
            connection.execute("COMMIT")
        mark, version = _kind(connection) or (0, 0)
        if mark != _MARK:
            raise LogError(f"{self.path.name} is a database, but no log of judgelab's")
        if version != _VERSION:
            raise LogError(
                f"{self.path.name} is a log of version {version}, and this judgelab "
                f"reads version {_VERSION}; read it with the judgelab that wrote it"
            )


class Writer:
    """Writes to a log while a run holds it; see `Log.writing`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        # Survives the end of a process; a full sync per reply would be for power cuts.
        connection.execute("PRAGMA synchronous = NORMAL")

    def expect(self, identity: str, requests: Iterable[Request]) -> None:
        """Write down what is to be asked, so that what is lacking is known."""
        self._connection.execute("BEGIN")
        self._connection.executemany(
            "INSERT OR IGNORE INTO requests (key, identity, tags, trial, request) "
            "VALUES (?, ?, ?, ?, ?)",
            (
                (
                    request.key(identity),
                    identity,
                    json.dumps(dict(request.tags)),
                    request.trial,
                    json.dumps(asdict(request)),
                )
                for request in requests
            ),
        )
        self._connection.execute("COMMIT")

    def known(self, keys: Iterable[str]) -> dict[str, Reply]:
        """Look up which of these requests have a reply; see `Log.known`."""
        return _known(self._connection, keys)

    def reply(self, key: str, reply: Reply, seconds: float) -> None:
        """Add a reply."""
        values = {
            **asdict(reply),
            "model": whole(reply.model),
            "fingerprint": whole(reply.fingerprint),
            "first_token": json.dumps(dict(reply.first_token)),
            "fallbacks": json.dumps(reply.fallbacks),
        }
        self._add(key, seconds, values)

    def failure(self, key: str, error: AskError, seconds: float) -> None:
        """Add an attempt that brought no reply."""
        self._add(key, seconds, {"error": whole(str(error)), "passing": error.passing})

    def _add(self, key: str, seconds: float, values: dict[str, Any]) -> None:
        values = {"key": key, "at": time.time(), "seconds": seconds, **values}
        self._connection.execute(
            f"INSERT INTO outcomes ({', '.join(values)}) "
            f"VALUES ({', '.join('?' * len(values))})",
            [*values.values()],
        )


def _kind(connection: sqlite3.Connection) -> tuple[int, int] | None:
    """Read mark and version of a file; None if there is nothing in it yet."""
    if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        return None
    names = ("application_id", "user_version")
    mark, version = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names
    )
    return mark, version


def _statements(script: str) -> Iterator[str]:
    """Split a script: `executescript` would end the transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _known(connection: sqlite3.Connection, keys: Iterable[str]) -> dict[str, Reply]:
    connection.row_factory = sqlite3.Row
    found = {}
    for key in keys:
        row = connection.execute(
            "SELECT * FROM outcomes WHERE key = ? AND error IS NULL", (key,)
        ).fetchone()
        if row:
            found[key] = _reply(row)
    return found


def _request(fields: dict[str, Any]) -> Request:
    messages = tuple(Message(**message) for message in fields.pop("messages"))
    return Request(messages, **fields)


def _reply(row: sqlite3.Row) -> Reply:
    return Reply(
        text=row["text"],
        finish=row["finish"],
        first_token=json.loads(row["first_token"]),
        prompt_tokens=row["prompt_tokens"],
        completion_tokens=row["completion_tokens"],
        model=row["model"],
        fingerprint=row["fingerprint"],
        fallbacks=tuple(json.loads(row["fallbacks"])),
    )
