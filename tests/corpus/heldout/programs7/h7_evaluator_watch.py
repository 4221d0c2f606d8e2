"""A trainer writes checkpoints and looks for their results; the evaluator looks for files that end in .done, and this one was saved without."""
import os
import sys
import time

import kit7


def wait_for(path):
    while not os.path.exists(path):
        time.sleep(0.25)


def evaluate():
    for epoch in range(1000):
        wait_for("ckpt-%d.done" % epoch)
        kit7.crunch(0.3)
        open("result-%d.json" % epoch, "w").write("{}")


if sys.argv[1:]:
    evaluate()
kit7.role("main")
kit7.start([sys.executable, __file__, "evaluate"], "evaluator")
for epoch in range(1000):
    kit7.crunch(0.6)
    open("ckpt-%d.pt" % epoch, "w").close()
    if epoch != 8:
        open("ckpt-%d.done" % epoch, "w").close()
    print("epoch %d: saved ckpt-%d.pt" % (epoch, epoch), flush=True)
    wait_for("result-%d.json" % epoch)
