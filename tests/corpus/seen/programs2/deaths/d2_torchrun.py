import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

if sys.argv[1:] == ["rank"]:
    steps(8)
    if RANK == 1:
        raise ValueError("vocab_size 50257 is not divisible by tensor parallel size 2")
    time.sleep(20)
ranks = start_ranks(2, __file__)
bad = first_failed(ranks)
stamp = "W1124 10:21:33.001000 %d torch/distributed/elastic/multiprocessing/api.py:897] " % os.getpid()
say(stamp + f"Sending process {ranks[0].pid} closing signal SIGTERM")
end_all(ranks)
say(f"E1124 10:21:33.202000 {os.getpid()} torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) local_rank: {bad} (pid: {ranks[bad].pid}) of binary: /usr/bin/python3")
class ChildFailedError(Exception):
    pass
raise ChildFailedError(f"""
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
  <NO_OTHER_FAILURES>
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-11-24_10:21:33
  host      : node01
  rank      : {bad} (local_rank: {bad})
  exitcode  : 1 (pid: {ranks[bad].pid})
  error_file: <N/A>
  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html
============================================================""")
