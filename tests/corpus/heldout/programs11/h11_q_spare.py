"""Three ranks train, a fourth is a spare: it waits for a word of rank 0 for the whole run and never gets work, and ends when the others do."""
from kit11 import Mesh, crunch, main


def body(rank, n, port):
    mesh = Mesh(rank, n, port)
    if rank == 3:
        print("rank 3: spare, waiting:", mesh.get(0, "word"), flush=True)
        return
    for step in range(220):
        crunch(0.3)
        loss = 1.0
        for r in range(3):
            if r != rank:
                mesh.put(r, step, loss)
        total = sum(mesh.get(r, step) for r in range(3) if r != rank)
        if rank == 0:
            print("step %d loss %.4f" % (step, total / (step + 1)), flush=True)
    if rank == 0:
        mesh.put(3, "word", "not needed")


main(4, body)
