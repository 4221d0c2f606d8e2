"""A launcher forks three ranks and gives each the names of its files by a pipe; a rank takes the rest of its list up to the
end of file. The ranks that were forked later have copies of the ends of the earlier ones: rank 0 never sees its end, ranks 1
and 2 wait for it at a barrier.

slow: the copies are closed; the launcher writes rank 0's last names after 67 s."""
import os
import sys
import time

from kit27 import SLOW, STALL, STEPS, crunch, dial, free_port, listen, receive, role, send, tell, with_parent


def barrier(rank, ends):
    for end in ends:
        if rank == 0:
            receive(end)
        else:
            send(end, rank)
    for end in ends:
        if rank == 0:
            send(end, "go on")
        else:
            receive(end)


def train(rank, names, port):
    role("rank%d" % rank)
    with_parent()
    os.environ.update(RANK=str(rank), WORLD_SIZE="3")
    if rank == 0:
        door = listen(port)
        ends = [door.accept()[0] for _ in range(2)]
    else:
        ends = [dial(port)]
    for step in range(STALL):
        names.readline()
        crunch(0.2)
        barrier(rank, ends)
        if rank == 0:
            tell(step, "step:{step} loss:{loss:.3f}")
    rest = names.read()
    for step in range(STALL, STEPS):
        crunch(0.1)
        barrier(rank, ends)
    sys.exit(0 if rest else 1)


def launch():
    role("launcher")
    port, outs = free_port(), []
    for rank in range(3):
        end, out = os.pipe()
        if os.fork() == 0:
            if SLOW:
                for other in outs:
                    os.close(other)
            os.close(out)
            train(rank, os.fdopen(end), port)
        os.close(end)
        outs.append(out)
    for out in reversed(outs):
        os.write(out, b"sample.png\n" * STALL)
        if SLOW and out == outs[0]:
            time.sleep(87)
        os.write(out, b"last.png\n")
        os.close(out)
    for _ in range(3):
        os.wait()


launch()
