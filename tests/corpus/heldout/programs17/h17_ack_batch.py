"""Two forked ranks are the stages of a model. Rank 1 acknowledges activations by eights. Rank 0 may have 16 on the way,
and from step 40 on, to save memory, 6: it waits for an acknowledgement, and rank 1 for the two activations that would
make eight."""
from kit17 import crunch, dial, listen, main, receive, send, told


def first_stage(peer):
    on_the_way = 0
    for step in range(400):
        window = 16 if step < 40 else 6
        while on_the_way >= window:
            on_the_way -= receive(peer)
        crunch(0.2)
        send(peer, ("activation", step))
        on_the_way += 1
        told(step)


def last_stage(peer):
    seen = 0
    while True:
        receive(peer)
        crunch(0.1)
        seen += 1
        if seen % 8 == 0:
            send(peer, 8)


def body(rank, world, port):
    if rank == 0:
        first_stage(listen(port).accept()[0])
    else:
        last_stage(dial(port))


main(2, body, "fork")
