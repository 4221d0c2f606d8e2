"""A producer writes parts and leaves when done. Its names have no leading zeros from part 10 on, main looks for others."""
import sys

import kit8

if sys.argv[1:]:
    for n in range(40):
        kit8.crunch(0.4)
        open("part-0%d.done" % n, "w").close()
    sys.exit()
kit8.role("main")
producer = kit8.start([sys.executable, __file__, "produce"], "producer")
for n in range(40):
    kit8.wait_for("part-%02d.done" % n, 1)
    kit8.crunch(0.2)
    print("indexed part %02d" % n, flush=True)
