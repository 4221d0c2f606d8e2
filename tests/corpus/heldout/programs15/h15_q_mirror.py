"""After a first epoch the next shard is downloaded from a mirror that sends 2 KiB a second, for 55 s."""
import os
import sys
import time
import urllib.request

from kit15 import crunch, dial, free_port, listen, role, start, told


def mirror(port):
    door = listen(port)
    while True:
        peer = door.accept()[0]
        request = peer.recv(4096)
        if not request:
            continue
        peer.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: %d\r\n\r\n" % (55 * 2048))
        for _ in range(55):
            time.sleep(1)
            peer.sendall(bytes(2048))
        peer.close()


def epoch(begin):
    for step in range(begin, begin + 60):
        crunch(0.12)
        told(step)


if sys.argv[1:2] == ["mirror"]:
    mirror(int(sys.argv[2]))
else:
    role("main")
    port = free_port()
    start([sys.executable, os.path.abspath(__file__), "mirror", str(port)], "mirror")
    dial(port).close()
    epoch(0)
    print("downloading shard 2", flush=True)
    print(len(urllib.request.urlopen("http://127.0.0.1:%d/shard-2.tar" % port).read()), flush=True)
    epoch(60)
