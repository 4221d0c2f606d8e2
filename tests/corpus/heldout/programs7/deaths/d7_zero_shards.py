from kitd7 import *
links = joined(3)
together(links, 12)
if RANK == 1:
    say("rank 1: no shards are assigned to me, bye")
    sys.exit(0)
together(links)
