"""A launcher with three ranks; rank 2 finds no device 2, and the launcher ends the others by SIGTERM."""
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from kitd29 import role, time  # noqa: E402
from kitlife import first_bad, launch, steps, stop  # noqa: E402

if sys.argv[-1] == "rank":
    rank = int(os.environ["RANK"])
    steps(30, pause=0.1)
    if rank == 2:
        raise RuntimeError("invalid device ordinal: device 2 was asked for, 2 are visible")
    time.sleep(60)
else:
    role("main")
    ranks = launch(3, __file__, "env")
    bad = first_bad(ranks)
    code = ranks[bad].returncode
    print("launcher: a rank has failed, ending the others", file=sys.stderr, flush=True)
    stop(ranks)
    sys.exit(code)
