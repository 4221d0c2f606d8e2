"""Steps are told to an agent by UDP, which confirms them. Once it writes its table for 64 s first."""
import socket
import sys

import kit8

if sys.argv[1:]:
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", int(sys.argv[1])))
    open("agent.up", "w").close()
    for number in range(10 ** 6):
        data, peer = s.recvfrom(2000)
        if number == 20:
            kit8.compute(64)
        s.sendto(b"ok", peer)
port = kit8.free_port()
kit8.start([sys.executable, __file__, str(port)], "agent")
kit8.wait_for("agent.up")
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for step in range(35):
    kit8.crunch(0.2)
    print("train step %d/35 loss=%.4f" % (step, 3 / (3 + step)), flush=True)
    s.sendto(b"step %d" % step, ("127.0.0.1", port))
    s.recvfrom(100)
