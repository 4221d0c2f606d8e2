"""Two nodes of four ranks. The first rank of a node fetches the data while its others wait for its word. On the second node the data is there
already: its first rank goes on to the sum of all ranks without a word."""
import kit9


def node_first(rank, port, have):
    """On each node: the others hear from the first when the data is there."""
    first = rank - rank % 4
    hub = kit9.Hub(rank % 4, 4, port + 100 + first)
    if rank == first and have:
        return hub
    if rank == first:
        kit9.crunch(1.5)
        print("node %d: data fetched" % (rank // 4), flush=True)
    hub.reduce(0)
    return hub


def train(rank, n, port):
    local = node_first(rank, port, have=rank == 4)
    tree = kit9.Tree(rank, n, port)
    for s in range(40):
        kit9.crunch(0.2)
        tree.reduce(1.0)
        local.reduce(1.0)
        kit9.step(rank, s, 40)


kit9.main(8, train)
