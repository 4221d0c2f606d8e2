"""Three forked ranks exchange activations over pairs of pipes, in chunks of 1024 tokens. A rank takes as many chunks
as its own longest sequence has. A text of rank 2 is longer than 2048 tokens in step 60: it waits for a third chunk
of rank 0, and the others are in the next step."""
import multiprocessing

from kit16 import crunch, main, told

WORLD = 3
ENDS = {}
for a in range(WORLD):
    for b in range(a + 1, WORLD):
        ENDS[a, b], ENDS[b, a] = multiprocessing.Pipe()


def longest(rank, step):
    return 2600 if (rank, step) == (2, 60) else 1500 + 97 * ((rank + step) % 5)


class Exchange:
    def __init__(self, rank):
        self.peers = {r: ENDS[rank, r] for r in range(WORLD) if r != rank}
        self.early = {}

    def take(self, r, tag):
        while (r, tag) not in self.early:
            got, body = self.peers[r].recv()
            self.early[r, got] = body
        return self.early.pop((r, tag))

    def activations(self, step, tokens):
        for chunk in range((tokens + 1023) // 1024):
            for peer in self.peers.values():
                peer.send(((step, chunk), b"\0" * 2048))
            for r in self.peers:
                self.take(r, (step, chunk))


def body(rank, world, port):
    ranks = Exchange(rank)
    for step in range(400):
        crunch(0.12)
        ranks.activations(step, longest(rank, step))
        if rank == 0:
            told(step)


main(WORLD, body, "fork")
