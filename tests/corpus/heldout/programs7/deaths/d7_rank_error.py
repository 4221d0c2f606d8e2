from kitd7 import *
links = joined(3)
together(links, 10)
if RANK == 2:
    raise ValueError("rank 2: expected 1024 tokens, got 1023 in document 88213")
try:
    together(links)
except OSError as error:
    if RANK == 1:
        time.sleep(0.5)
    sys.exit("rank %d gives up: %s" % (RANK, error))
