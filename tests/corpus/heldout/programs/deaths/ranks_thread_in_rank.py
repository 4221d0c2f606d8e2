"""A thread of rank 0 ends its process, the others lose their connection."""
from job import *
role(f'rank{RANK}')
star = Star()
star.train(0, 30)
if RANK == 0:
    def heartbeat():
        print("[rank0] heartbeat: store key expired, lease lost", file=sys.stderr, flush=True)
        os._exit(5)
    threading.Thread(target=heartbeat).start()
star.train(30, 300)
