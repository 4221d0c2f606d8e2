"""Each step is told to an agent by UDP, which confirms it. The agent has ended, nobody says so."""
import socket
import sys

import kit8

if sys.argv[1:]:
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", int(sys.argv[1])))
    open("agent.up", "w").close()
    for _ in range(40):
        data, peer = s.recvfrom(2000)
        s.sendto(b"ok", peer)
    sys.exit()
kit8.role("main")
port = kit8.free_port()
kit8.start([sys.executable, __file__, str(port)], "agent")
kit8.wait_for("agent.up")
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for step in range(1000):
    kit8.crunch(0.2)
    print("train step %d/1000 loss=%.4f" % (step, 3 / (3 + step)), flush=True)
    s.sendto(b"step %d" % step, ("127.0.0.1", port))
    s.recvfrom(100)
