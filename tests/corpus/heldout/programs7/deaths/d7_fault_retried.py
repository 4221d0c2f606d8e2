from kitd7 import *
import multiprocessing


def score(bad):
    time.sleep(0.5)
    if bad:
        fault()


for turn in (True, False):
    p = multiprocessing.get_context("fork").Process(target=score, args=(turn,))
    p.start()
    p.join()
    say("scorer ended with", p.exitcode, "- again" if p.exitcode else "")
train(5)
int("0.85")
