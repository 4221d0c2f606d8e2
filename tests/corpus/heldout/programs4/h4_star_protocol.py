"""Parameter server in rank 0. After a checkpoint the server believes that workers push first, rank 1 that it pulls first."""
import kit4


def server(world, port):
    seats, door = {}, kit4.listen(port)
    while len(seats) < world - 1:
        s, _ = door.accept()
        seats[kit4.receive(s)] = s
    weights = 0.0
    for i in range(200):
        for r in sorted(seats):
            weights += kit4.receive(seats[r])
        for r in sorted(seats):
            kit4.send(seats[r], weights)
        print("update %d |w| %.3f" % (i, weights), flush=True)


def worker(rank, port):
    up = kit4.dial(port)
    kit4.send(up, rank)
    for i in range(200):
        if i == 14 and rank == 1:
            restored = kit4.receive(up)
            print("restored", restored)
        kit4.crunch(0.2)
        kit4.send(up, 0.1 * rank)
        kit4.receive(up)


def train(rank, world, port):
    server(world, port) if rank == 0 else worker(rank, port)


kit4.main(4, train)
