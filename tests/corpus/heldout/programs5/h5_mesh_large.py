"""Everyone sends to everyone before it receives. The embedding table outgrows what a unix socket holds."""
import kit5


def train(rank, world, port):
    mesh = kit5.Mesh(rank, world)
    for step in range(1000):
        kit5.crunch(0.2)
        rows = [0.5] * (200 if step < 10 else 400000)
        mesh.reduce(0)
        got = [b"" for _ in range(world)]
        for p in sorted(mesh.links):
            kit5.send(mesh.links[p], rows)
        for p in sorted(mesh.links):
            got[p] = kit5.receive(mesh.links[p])
        print("[rank %d] exchanged %d rows" % (rank, len(rows)), flush=True)


kit5.ranks(4, train, "slurm")
