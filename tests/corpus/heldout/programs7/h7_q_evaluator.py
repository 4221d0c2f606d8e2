"""A trainer looks for the result file of its evaluator, which computes for 62 s."""
import os
import sys
import time

import kit7


def wait_for(path):
    while not os.path.exists(path):
        time.sleep(0.25)


def evaluate():
    for epoch in range(4):
        wait_for("ckpt-%d.done" % epoch)
        kit7.compute(62 if epoch == 2 else 0.3)
        open("result-%d.json" % epoch, "w").write("{}")


if sys.argv[1:]:
    evaluate()
    sys.exit()
kit7.role("main")
kit7.start([sys.executable, __file__, "evaluate"], "evaluator")
for epoch in range(4):
    kit7.crunch(0.6)
    open("ckpt-%d.done" % epoch, "w").close()
    print("epoch %d: saved ckpt-%d.pt" % (epoch, epoch), flush=True)
    wait_for("result-%d.json" % epoch)
