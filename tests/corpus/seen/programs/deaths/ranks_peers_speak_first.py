"""The peers write their errors before the rank that failed writes its own."""
from job import *
role(f'rank{RANK}')
star = Star()
star.train(0, 30)
if RANK == 1:
    for c in star.peers.values():
        c.close()
    time.sleep(0.3)
    raise OSError(5, "Input/output error", "/scratch/shard-1.bin")
try:
    star.train(30, 300)
except RuntimeError as e:
    import traceback
    traceback.print_exc()
    sys.stderr.flush()
    time.sleep(0.6)
    os._exit(1)
