"""Two ranks. Rank 1 has met a loss that is not finite, and a debugger left in the code opens a door and waits for somebody
to attach; it says so in its log file only.

slow: a helper attaches after 74 s and lets it go on."""
import sys
import time

from kit25 import OWN, SLOW, STALL, STEPS, Log, Model, Ring, dial, free_port, listen, main, start


def breakpoint_here():
    port = free_port()
    with open("debug.log", "w") as f:
        f.write("waiting for a debugger at port %d\n" % port)
    door = listen(port)
    if SLOW:
        start(OWN + ["attach", str(port)], "attacher")
    end = door.accept()[0]
    end.close()


def body(rank, world, port):
    ring, model, log = Ring(rank, world), Model(rank), Log("bar", "finetune") if rank == 0 else None
    for step in range(STEPS):
        slope = model.backward()
        if rank == 1 and step == STALL:
            breakpoint_here()
        model.step(ring.mean("gradient %d" % step, slope))
        if rank == 0:
            log(step, model.loss)


if "attach" in sys.argv:
    time.sleep(74)
    dial(int(sys.argv[2]))
else:
    main(2, body)
