"""An evaluator sends its last predictions, closes its half of the connection and waits for the summary. The server has seen the end, and forgot to answer or close."""
import json
import socket
import sys

import kit7


def serve(port):
    door, kept = kit7.listen(port), []
    while True:
        s, _ = door.accept()
        kept.append(s)
        rows = [json.loads(line) for line in s.makefile("rb")]
        if sum(rows) % 2 == 0:
            s.sendall(b"mean %.3f\n" % (sum(rows) / len(rows)))
            kept.pop().close()


if sys.argv[1:]:
    serve(int(sys.argv[1]))
kit7.role("main")
port = kit7.free_port()
kit7.start([sys.executable, __file__, str(port)], "server")
for batch in range(1000):
    with kit7.dial(port) as s:
        for row in range(10):
            kit7.crunch(0.02)
            s.sendall(b"%d\n" % (3 if batch == 20 and row == 9 else 2))
        s.shutdown(socket.SHUT_WR)
        kit7.row(batch, answer=s.makefile().read().strip())
