"""A file system that answers no read and no write, as a server of files that is gone."""
import subprocess

import pytest


@pytest.fixture
def dead_files(binary, tmp_path):
    """dead_files() mounts one and gives its folder; dead_files("hard"): not even SIGKILL ends who waits for it."""
    tool = binary.parents[2] / "tests/tool/deadfs"
    servers = []

    def make(*words, at=tmp_path):
        if not tool.exists():
            pytest.skip(f"{tool} is not built")
        folder = at / f"dead-{len(servers)}"
        folder.mkdir()
        server = subprocess.Popen([tool, folder, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        servers.append(server)
        if server.stdout.readline() != b"ready\n":
            pytest.skip(f"no file system of its own here: {server.stderr.read().decode().strip()}")
        make.end = lambda: (server.terminate(), server.wait(20))
        return folder
    yield make
    for server in servers:
        server.terminate()
        server.wait(20)
