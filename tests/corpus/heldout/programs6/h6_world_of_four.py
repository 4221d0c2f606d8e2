"""Three ranks were started for a world of four: rank 0 waits for the greeting of the fourth, the others for rank 0."""
import kit6


def train(rank, world, port):
    world = 4
    if rank:
        s = kit6.dial(port)
        kit6.send(s, rank)
        kit6.receive(s)
        return
    door, seats = kit6.listen(port), {}
    while len(seats) < world - 1:
        s, _ = door.accept()
        seats[kit6.receive(s)] = s
        print("rendezvous: %d of %d" % (len(seats) + 1, world), flush=True)
    for s in seats.values():
        kit6.send(s, "go")


kit6.ranks(3, train)
