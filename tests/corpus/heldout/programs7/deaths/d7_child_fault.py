from kitd7 import *
import multiprocessing


def load():
    role("loader")
    time.sleep(1)
    fault()


child = multiprocessing.get_context("fork").Process(target=load)
child.start()
train(3)
child.join()
say("loader 0 ended with exit code %d" % child.exitcode)
sys.exit(1)
