import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

if sys.argv[1:] == ["rank"]:
    steps(8)
    if RANK == 0:
        import ctypes
        ctypes.string_at(8)
    time.sleep(20)
ranks = start_ranks(2, __file__)
bad = first_failed(ranks)
say(f"W1124 10:21:33.001000 {os.getpid()} torch/distributed/elastic/multiprocessing/api.py:897] Sending process {ranks[1].pid} closing signal SIGTERM")
end_all(ranks)
say(f"E1124 10:21:33.202000 {os.getpid()} torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: -11) local_rank: {bad} (pid: {ranks[bad].pid}) of binary: /usr/bin/python3")
sys.exit(1)
