from kitd6 import *
links = joined(2)
for e in range(1, 60):
    if RANK == 0:
        epochs(1, e, 0)
    time.sleep(0.2)
    if (RANK, e) == (1, 9):
        os._exit(4)
    exchange(links)
