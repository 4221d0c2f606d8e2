import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

if sys.argv[1:] == ["rank"]:
    steps(8)
    if RANK == 2:
        raise KeyError("zero_optimization.stage3_gather_fp16")
    time.sleep(20)
ranks = launch(3, __file__, "env")
bad = first_bad(ranks)
code = ranks[bad].returncode
for p in ranks:
    say(f"[{time.strftime('%Y-%m-%d %H:%M:%S')},112] [INFO] [launch.py:315:sigkill_handler] Killing subprocess {p.pid}")
stop(ranks)
say(f"[{time.strftime('%Y-%m-%d %H:%M:%S')},309] [ERROR] [launch.py:321:sigkill_handler] ['{sys.executable}', '-u', 'train.py', '--local_rank=2'] exits with return code = {code}")
sys.exit(code)
