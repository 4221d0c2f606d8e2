from kitd8 import *
if RANK >= 0:
    fit(6)
    if RANK == 1:
        raise IndexError("expert 64 of 64 in router of layer 3")
    fit(400)
ranks = launch(3, __file__, "env")
bad = first_bad(ranks)
say("launcher: worker %d failed, stopping the others" % bad)
stop(ranks)
sys.exit(1)
