import multiprocessing

from kitd9 import *


def load(k):
    time.sleep(1)


batches(3)
multiprocessing.set_start_method("spawn")
loader = multiprocessing.Process(target=load, args=(1,))
loader.start()
loader.join()
if loader.exitcode:
    print("DataLoader worker exited unexpectedly with status", loader.exitcode, flush=True)
    sys.exit(1)
