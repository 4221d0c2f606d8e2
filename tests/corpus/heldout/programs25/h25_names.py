"""Two ranks; rank 0 resolves a mirror's name for each part by a name server of the cluster, by datagrams with 5 s to
answer, and asks again. The name server reads on, but answers no more: it has lost its upstream.

slow: it answers again after 66 s."""
import socket
import sys
import time

from kit25 import OWN, SLOW, STALL, STEPS, Log, Model, Star, main, start


def serve(port):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", port))
    lost, n = None, 0
    while True:
        asked, who = s.recvfrom(512)
        n += 1
        if n == STALL // 5:
            lost = time.monotonic()
        if lost is None or SLOW and time.monotonic() > lost + 66:
            s.sendto(b"10.0.0.7 " + asked, who)


def resolve(port, name):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(5)
    while True:
        s.sendto(name.encode(), ("127.0.0.1", port))
        try:
            return s.recv(512)
        except TimeoutError:
            pass


def body(rank, world, port):
    if rank == 0:
        start(OWN + ["names", str(port)] + sys.argv[1:], "names")
        time.sleep(0.5)
    star, model, log = Star(rank, world), Model(rank), Log("logger")
    for step in range(STEPS):
        if rank == 0 and step % 5 == 0:
            resolve(port, "mirror-%d.data" % step)
        model.step(star.mean("gradient %d" % step, model.backward()))
        if rank == 0:
            log(step, model.loss)


if "names" in sys.argv:
    serve(int(sys.argv[2]))
else:
    main(2, body)
