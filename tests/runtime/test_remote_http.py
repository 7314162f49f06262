import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import shardc.runtime as rt

from .tiny_model import SPEC, equal, full_tensors, mesh, write_indexed_checkpoint

pytest.importorskip("aiohttp")


class Server(ThreadingHTTPServer):
    """The files of a directory on loopback, in ranges, without a list of them. asked: what was got, and of which bytes."""

    def __init__(self, directory: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.directory = directory
        self.asked: list[tuple[str, str | None]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/model"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_HEAD(self) -> None:
        self.answer()

    def do_GET(self) -> None:
        content = self.answer()
        if content is not None:
            self.server.asked.append((Path(self.path).name, self.headers["Range"]))
            self.wfile.write(content)

    def answer(self) -> bytes | None:
        """The head of the answer, and what it has for content."""
        path = self.server.directory / Path(self.path).name
        found = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers["Range"] or "")
        if not path.is_file():
            self.send_error(404)
            return None
        content = path.read_bytes()
        size = len(content)
        if found:
            first, last = int(found[1]), min(int(found[2]), size - 1)
            content = content[first : last + 1]
        self.send_response(206 if found else 200)
        if found:
            self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        return content

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with Server(write_indexed_checkpoint(tmp_path, full_tensors())) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_a_web_server(server: Server) -> None:
    remote = rt.load(SPEC, server.url, mesh(tp=(1, 2)))
    local = rt.load(SPEC, server.directory, mesh(tp=(1, 2)))
    assert all(equal(remote[name], local[name]) for name in local)
    assert sorted(asked for asked in server.asked if asked[1]) == [
        ("a.safetensors", "bytes=0-3399"),
        ("a.safetensors", "bytes=552-3399"),
        ("b.safetensors", "bytes=0-4087"),
        ("b.safetensors", "bytes=728-4087"),
    ]


def test_files_that_are_not_there(server: Server) -> None:
    (server.directory / "b.safetensors").unlink()
    with pytest.raises(rt.ShardError) as caught:
        rt.load(SPEC, server.url, mesh())
    text = "model.safetensors.index.json puts embed.weight and 6 more in b.safetensors, which does not exist"
    assert caught.value.findings == (("SHD407", text),)


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(rt.ShardError, match=r"^SHD406: http://127\.0\.0\.1:1/model/shardc\.json: Connect call"):
        rt.load(SPEC, "http://127.0.0.1:1/model", mesh())
