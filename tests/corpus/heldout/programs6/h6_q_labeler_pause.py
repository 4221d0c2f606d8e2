"""A labelling process answers after the pause of a person, 70 s; the trainer waits for its answer by TCP."""
import sys
import time

import kit6


def label(port):
    link, _ = kit6.listen(port).accept()
    for n in range(15):
        kit6.receive(link)
        time.sleep(70 if n == 12 else 0.3)
        kit6.send(link, "cat")


if sys.argv[1:]:
    label(int(sys.argv[1]))
else:
    kit6.role("main")
    port = kit6.free_port()
    kit6.start([sys.executable, __file__, str(port)], "labeler")
    link = kit6.dial(port)
    for n in range(15):
        kit6.send(link, n)
        print("image", n, kit6.receive(link), flush=True)
