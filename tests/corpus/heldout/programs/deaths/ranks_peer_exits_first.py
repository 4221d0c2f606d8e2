"""The peers have already gone as the rank that failed writes its error."""
from job import *
role(f'rank{RANK}')
star = Star()
star.train(0, 30)
signal.signal(signal.SIGTERM, lambda *_: None)
if RANK == 1:
    for c in star.peers.values():
        c.close()
    time.sleep(0.5)
    raise ValueError("sequence of 9000 tokens is longer than 8192")
star.train(30, 300)
