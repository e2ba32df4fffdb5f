"""Fetching over HTTP from a server that misbehaves in all the usual ways."""

import hashlib
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from judgelab import data
from judgelab.data import File, Source, blob_id, registry
from judgelab.errors import ChecksumMismatch, DownloadError, ValidationError

GOOD = b'{"pair_id": 1, "decision": "A>B"}\n' * 4000


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        kind = self.path.strip("/").split("/")[0]
        self.server.asked.append(kind)
        times = self.server.asked.count(kind)
        if kind == "gone":
            return self.send_error(404)
        if kind == "down" or (kind == "busy" and times == 1):
            return self.send_error(503)
        content = GOOD.replace(b"A>B", b"B>A") if kind == "changed" else GOOD
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if kind == "cut" or (kind == "cut-once" and times == 1):
            self.wfile.write(content[: len(content) // 2])
            self.wfile.flush()
            self.close_connection = True
        elif kind == "slow":
            step = len(content) // 5
            for start in range(0, len(content), step):
                self.wfile.write(content[start : start + step])
                self.wfile.flush()
                time.sleep(0.15)
        elif kind == "silent":
            self.server.released.wait(5)
        else:
            self.wfile.write(content)
        return None

    def log_message(self, *args):
        pass


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A server, an empty cache, and no waiting between attempts."""
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.asked, httpd.released = [], threading.Event()
    thread = threading.Thread(target=httpd.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    monkeypatch.delenv(registry.LOCAL_VARIABLE, raising=False)
    monkeypatch.setenv(registry.CACHE_VARIABLE, str(tmp_path))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(registry, "_PAUSES", (0.0, 0.0))
    yield httpd
    httpd.released.set()
    httpd.shutdown()
    httpd.server_close()
    thread.join()


def source(server, kind, **checksum):
    checksum = checksum or {"blob": blob_id(GOOD)}
    address = f"http://127.0.0.1:{server.server_port}/{kind}/x.jsonl"
    return Source("src", "t", "c", "l", (File("outputs/x.jsonl", address, **checksum),))


def kept(tmp_path):
    return sorted(p.name for p in tmp_path.rglob("*") if p.is_file())


@pytest.mark.parametrize(
    "checksum",
    [
        {"blob": blob_id(GOOD)},
        {"sha256": hashlib.sha256(GOOD).hexdigest()},
        {"sha256": hashlib.sha256(GOOD).hexdigest(), "blob": blob_id(GOOD)},
    ],
)
def test_good_file_is_fetched_once(server, tmp_path, checksum):
    src = source(server, "good", **checksum)
    folder = data.fetch(src)
    assert (folder / "outputs/x.jsonl").read_bytes() == GOOD
    data.fetch(src)
    assert server.asked == ["good"]
    assert kept(tmp_path) == ["x.jsonl"]


def test_slow_file_arrives(server):
    folder = data.fetch(source(server, "slow"))
    assert (folder / "outputs/x.jsonl").read_bytes() == GOOD


def test_server_that_falls_silent_is_given_up(server, tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "_TIMEOUT", 0.2)
    with pytest.raises(DownloadError, match="it broke"):
        data.fetch(source(server, "silent"))
    assert len(server.asked) == 3
    assert kept(tmp_path) == []


def test_busy_server_is_asked_again(server):
    folder = data.fetch(source(server, "busy"))
    assert (folder / "outputs/x.jsonl").read_bytes() == GOOD
    assert server.asked == ["busy", "busy"]


def test_server_that_stays_down_is_asked_three_times(server, tmp_path):
    with pytest.raises(DownloadError, match="503"):
        data.fetch(source(server, "down"))
    assert len(server.asked) == 3
    assert kept(tmp_path) == []


def test_missing_file_is_not_asked_for_again(server, tmp_path):
    with pytest.raises(DownloadError, match="404") as caught:
        data.fetch(source(server, "gone"))
    assert "JUDGELAB_DATA" in str(caught.value)
    assert server.asked == ["gone"]
    assert kept(tmp_path) == []


def test_changed_file_is_refused(server, tmp_path):
    with pytest.raises(ChecksumMismatch, match=blob_id(GOOD)[:12]):
        data.fetch(source(server, "changed"))
    assert server.asked == ["changed"]
    assert kept(tmp_path) == []


def test_interrupted_download_restarts(server):
    folder = data.fetch(source(server, "cut-once"))
    assert (folder / "outputs/x.jsonl").read_bytes() == GOOD
    assert server.asked == ["cut-once", "cut-once"]


def test_truncated_file_leaves_nothing_behind(server, tmp_path):
    with pytest.raises(DownloadError, match="it broke"):
        data.fetch(source(server, "cut"))
    assert kept(tmp_path) == []


def test_damaged_file_in_the_cache_is_fetched_again(server, tmp_path):
    target = tmp_path / "src/outputs/x.jsonl"
    target.parent.mkdir(parents=True)
    # What an interrupted download of another program may have left.
    target.write_bytes(GOOD[:100])
    assert (data.fetch(source(server, "good")) / "outputs/x.jsonl").read_bytes() == GOOD


def test_no_server_at_all(server, tmp_path):
    src = source(server, "good")
    server.shutdown()
    server.server_close()
    with pytest.raises(DownloadError, match="Check the network"):
        data.fetch(src)
    assert kept(tmp_path) == []


def test_local_folder_is_checked_by_git_id(server, tmp_path, monkeypatch):
    monkeypatch.setenv(registry.LOCAL_VARIABLE, str(tmp_path))
    local = tmp_path / "src/outputs"
    local.mkdir(parents=True)
    src = source(server, "good")
    with pytest.raises(ValidationError, match="lacks 1 of 1"):
        data.fetch(src)
    (local / "x.jsonl").write_bytes(GOOD[:-1])
    with pytest.raises(ChecksumMismatch, match="git id"):
        data.fetch(src)
    (local / "x.jsonl").write_bytes(GOOD)
    assert data.fetch(src) == tmp_path / "src"
    assert server.asked == []


def test_a_file_without_checksum_is_refused():
    with pytest.raises(ValidationError, match="checksum"):
        File("x", "http://example.org/x")


def test_git_id_of_known_content():
    # What `git hash-object` prints for the empty file and for "hello\n".
    assert blob_id(b"") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert blob_id(b"hello\n") == "ce013625030ba8dba906f756967f9e9ca394464a"


def test_every_judgebench_file_is_pinned_once():
    files = (*data.SOURCES["judgebench"].files, *data.MORE_JUDGEBENCH)
    assert len({f.name for f in files}) == len(files) == 40
    assert sum(f.name.startswith("outputs/") for f in files) == 38
    assert all(len(f.blob) == 40 for f in files)


def test_an_empty_local_folder_is_no_copy(server, tmp_path, monkeypatch):
    local = tmp_path / "records"
    monkeypatch.setenv(registry.LOCAL_VARIABLE, str(local))
    with pytest.raises(
        ValidationError, match=r"JUDGELAB_DATA is .*, which is no folder"
    ):
        data.fetch(source(server, "good"))
    local.mkdir()
    # Nothing there for this source: it is downloaded.
    assert data.fetch(source(server, "good")) == tmp_path / "src"
    (local / "src").mkdir()
    with pytest.raises(ValidationError, match="lacks 1 of 1 files"):
        data.fetch(source(server, "good"))
