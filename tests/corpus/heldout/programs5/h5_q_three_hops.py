"""main reads a child's pipe, the child a service's answer, and the service waits for its worker thread that computes for 65 s."""
import concurrent.futures
import subprocess
import sys

import kit5


def serve(port):
    door, pool = kit5.listen(port), concurrent.futures.ThreadPoolExecutor(1)
    link, _ = door.accept()
    while True:
        kit5.send(link, pool.submit(kit5.compute, kit5.receive(link)).result())


def relay(port):
    kit5.role("relay")
    link = kit5.dial(port)
    for line in sys.stdin:
        kit5.send(link, float(line))
        print(kit5.receive(link), flush=True)


def main():
    kit5.role("main")
    port = str(kit5.free_port())
    kit5.start([sys.executable, __file__, "serve", port], "server")
    p = kit5.start([sys.executable, __file__, "relay", port], "relay", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for n, seconds in enumerate((0.3, 0.3, 65, 0.3)):
        print(seconds, file=p.stdin, flush=True)
        print("answer", n, p.stdout.readline().strip(), flush=True)


{"serve": lambda: serve(int(sys.argv[2])), "relay": lambda: relay(int(sys.argv[2]))}.get(sys.argv[1] if sys.argv[1:] else "", main)()
