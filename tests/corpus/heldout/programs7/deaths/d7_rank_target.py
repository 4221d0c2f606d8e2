from kitd7 import *
links = joined(2)
for n in range(1000):
    together(links, 5)
    if RANK == 0:
        train(1, n, 0)
