import faulthandler

from kitd9 import *

batches(5)
faulthandler.dump_traceback_later(3, exit=True)


def fetch_next_shard():
    time.sleep(600)


fetch_next_shard()
