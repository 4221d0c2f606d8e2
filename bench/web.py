#!/usr/bin/python3
"""What the page's server costs: processor and memory with open streams, and how long its answers take.

    bench/web.py [--vigil PATH] [--streams 0,100,1000] [--ranks 8] [--seconds 20] [--jobs 0]

A job of that many ranks prints steps; streams ask for one job's health, ranks, memory and events, as a page does. Then every
reading route is asked 50 times. Prints one line each; the limits of the issue stand behind the numbers.
"""
import argparse
import json
import os
import pathlib
import resource
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
STEPS = "import time\nfor i in range(10**9):\n    print(f'step {i}/100000', flush=True); time.sleep(0.2)"


def cpu_s(pid):
    """Processor time of a process, exact to the scheduler's clock."""
    return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def memory_mib(pid, what="VmRSS"):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(what + ":"):
            return int(line.split()[1]) / 1024
    return 0


class Server:
    def __init__(self, vigil, env):
        self.process = subprocess.Popen([vigil, "dashboard", "--json"], env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        told = json.loads(self.process.stdout.readline())
        self.port = int(told["address"].split(":")[2].strip("/"))
        self.head = f"Host: localhost\r\nAuthorization: Bearer {told['token']}\r\n"

    def get(self, target):
        """(seconds, body)"""
        began = time.monotonic()
        with socket.create_connection(("127.0.0.1", self.port), 30) as s:
            s.sendall(f"GET {target} HTTP/1.1\r\n{self.head}Connection: close\r\n\r\n".encode())
            got = b""
            while part := s.recv(1 << 20):
                got += part
        assert got.startswith(b"HTTP/1.1 200"), got[:300]
        return time.monotonic() - began, got.split(b"\r\n\r\n", 1)[1]

    def stream(self, job):
        s = socket.create_connection(("127.0.0.1", self.port), 30)
        s.sendall(f"GET /api/v1/stream?job={job} HTTP/1.1\r\n{self.head}\r\n".encode())
        return s


def drain(sockets, seconds):
    """Reads what comes for a time, as pages do. Returns the bytes."""
    total, end = 0, time.monotonic() + seconds
    with selectors.DefaultSelector() as selector:
        for s in sockets:
            s.setblocking(False)
            selector.register(s, selectors.EVENT_READ)
        while (left := end - time.monotonic()) > 0:
            if not sockets:
                time.sleep(left)
                break
            for key, _ in selector.select(left):
                part = key.fileobj.recv(1 << 16)
                assert part, "the server closed a stream"
                total += len(part)
    return total


def measure_streams(server, job, n, seconds):
    sockets = [server.stream(job) for _ in range(n)]
    drain(sockets, 3)
    before, began = cpu_s(server.process.pid), time.monotonic()
    got = drain(sockets, seconds)
    spent, took = cpu_s(server.process.pid) - before, time.monotonic() - began
    limit = " (limit with 100: 1.00 %)" if n == 100 else ""
    print(f"{n:5} streams: {100 * spent / took:5.2f} % of a core{limit}, {memory_mib(server.process.pid):5.1f} MiB resident (limit 64), "
          f"{got / took / 1024:.0f} KiB/s sent")
    for s in sockets:
        s.close()
    drain([], 2)


def measure_routes(server, job):
    of_job = ("", "/ranks", "/processes", "/memory", "/series?what=cpu", "/events", "/incidents", "/logs", "/logs/0-0-out?offset=-65536",
              f"/at?time={int(time.time() * 1000)}")
    for target in ("/api/v1/jobs", "/api/v1/events?order=desc", *(f"/api/v1/jobs/{job}{part}" for part in of_job)):
        times, size = [], 0
        for _ in range(50):
            seconds, body = server.get(target)
            times.append(seconds * 1000)
            size = len(body)
        times.sort()
        print(f"{target.replace(job, 'JOB'):45} {statistics.median(times):6.1f} ms median, {times[-2]:6.1f} ms 48th of 50 (limit 50), {size} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vigil", default=str(ROOT / "build/src/cli/vigil"))
    parser.add_argument("--streams", default="0,100,1000")
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=0, help="so many short jobs are recorded before")
    a = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    with tempfile.TemporaryDirectory() as state:
        env = {**os.environ, "VIGIL_STATE_DIR": state}
        for _ in range(a.jobs):
            subprocess.run([a.vigil, "run", "--", "true"], env=env, check=True, capture_output=True)
        run = subprocess.Popen([a.vigil, "run", "--nproc", str(a.ranks), "--name", "bench", "--", sys.executable, "-u", "-c", STEPS],
                               env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        server = Server(a.vigil, env)
        try:
            while not (jobs := json.loads(server.get("/api/v1/jobs?running=1")[1])["jobs"]):
                time.sleep(0.1)
            job = jobs[0]["id"]
            while json.loads(server.get(f"/api/v1/jobs/{job}/ranks")[1])["total"] < a.ranks:
                time.sleep(0.2)
            print(f"{a.ranks} ranks, {a.jobs} older jobs, {os.cpu_count()} processors")
            for n in map(int, a.streams.split(",")):
                measure_streams(server, job, n, a.seconds)
            measure_routes(server, job)
        finally:
            run.terminate()
            run.wait()
            server.process.terminate()
            server.process.wait()


if __name__ == "__main__":
    main()
