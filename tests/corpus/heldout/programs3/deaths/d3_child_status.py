import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

pid = os.fork()
if pid == 0:
    steps(15)
    say("E0000 loader.cc:88] shard 00042.tar has a checksum of 9f3a, index says 77c1")
    os._exit(74)
os._exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
