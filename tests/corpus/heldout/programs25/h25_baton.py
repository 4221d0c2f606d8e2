"""Two ranks compile an operator for each new shape under a file as a lock, as torch's extensions do: who finds the file
waits until it is gone. A compile of rank 1 is killed (the guard of memory), with the file there; rank 1 takes that for
"no operator", and at the next shape rank 0 finds the file.

slow: the compile is not killed, it takes 68 s."""
import os
import subprocess
import sys
import time

from kit25 import OWN, SLOW, STALL, STEPS, Log, Model, Star, busy, main, role


def compile_operator(shape):
    role("compiler")
    os.close(os.open("operator.lock", os.O_CREAT | os.O_EXCL))
    if not SLOW:
        os.kill(os.getpid(), 9)
    busy(68)
    os.unlink("operator.lock")


def operator(rank, shape):
    if rank == 1:
        return subprocess.run(OWN + ["compile", str(shape)] + sys.argv[1:]).returncode == 0
    while not os.path.exists("operator.lock"):
        time.sleep(0.05)
    while os.path.exists("operator.lock"):
        time.sleep(0.5)
    return True


def body(rank, world, port):
    star, model, log = Star(rank, world), Model(rank), Log("logger")
    for step in range(STEPS):
        if step == STALL:
            operator(rank, step)
        model.step(star.mean("gradient %d" % step, model.backward()))
        if rank == 0:
            log(step, model.loss)


if "compile" in sys.argv:
    compile_operator(int(sys.argv[2]))
else:
    main(2, body)
