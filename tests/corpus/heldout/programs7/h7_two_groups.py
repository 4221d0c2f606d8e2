"""Eight ranks: pairs for tensors, the even and the odd ones for data. Rank 5 has no tokens for its expert and waits for a new plan from rank 0."""
import kit7


def pair(rank, port):
    if rank % 2:
        return kit7.dial(port + 30 + rank // 2)
    return kit7.listen(port + 30 + rank // 2).accept()[0]


def swap(link):
    kit7.send(link, 1)
    return kit7.receive(link)


def train(rank, world, port):
    peer, data = pair(rank, port), kit7.Line(rank // 2, world // 2, port + rank % 2 * 4)
    if rank == 0:
        plan = kit7.listen(port + 40).accept()[0]
    if rank == 5:
        plan = kit7.dial(port + 40)
    for step in range(1000):
        kit7.crunch(0.2)
        if rank == 5 and step == 18:
            kit7.receive(plan)
        swap(peer)
        total = data.reduce()
        if rank == 0:
            print("step %d: aux_loss=%.4f tokens/expert=%d" % (step, 1 / (step + 1), total * 256), flush=True)
    plan.close()


kit7.ranks(8, train)
