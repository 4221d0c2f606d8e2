"""The ranks write to files of their own, the job's output has only the launcher's sum."""
from job import *
role(f'rank{RANK}')
star = Star()
star.train(0, 30)
if RANK == 2:
    raise RuntimeError("expected scalar type Half but found Float")
try:
    star.train(30, 300)
except RuntimeError as e:
    import traceback
    traceback.print_exc()
    sys.stderr.flush()
    time.sleep(0.6)
    os._exit(1)
