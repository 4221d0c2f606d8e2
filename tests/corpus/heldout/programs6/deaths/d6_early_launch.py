from kitd6 import *
if sys.argv[1:]:
    for e in range(1, 60):
        if RANK == 0:
            epochs(1, e, 0)
        time.sleep(0.15)
        if RANK == 1 and e == 9:
            sys.exit(0)
else:
    role("launcher")
    ranks = launch(3, __file__, "env")
    while all(p.poll() is None for p in ranks):
        time.sleep(0.05)
    time.sleep(0.3)
    gone = [r for r, p in enumerate(ranks) if p.poll() is not None]
    stop(ranks)
    sys.exit(f"rank {gone[0]} left before the others, with 0")
