"""A service that predicts, and a caller that comes every 31 s. Nothing is told between."""
import sys
import time

import kit9

if sys.argv[1:2] == ["call"]:
    for k in range(3):
        link = kit9.dial(int(sys.argv[2]))
        kit9.send(link, [k] * 4)
        kit9.receive(link)
        link.close()
        time.sleep(31 if k < 2 else 0)
    sys.exit(0)
kit9.role("main")
port = kit9.free_port()
door = kit9.listen(port)
kit9.start([sys.executable, sys.argv[0], "call", str(port)], "caller")
for k in range(3):
    link, _ = door.accept()
    x = kit9.receive(link)
    kit9.crunch(0.3)
    kit9.send(link, sum(x))
    print("request %d: predicted %d" % (k, sum(x)), flush=True)
