"""An evaluator that looks for new checkpoints every two seconds; the next is written after more than a minute."""
import os
import sys
import time

import kit4

if sys.argv[1:] == ["train"]:
    for k in range(2):
        time.sleep(1 if k == 0 else 68)
        open("step%d.tmp" % k, "w").close()
        os.rename("step%d.tmp" % k, "step%d.ckpt" % k)
    sys.exit(0)
kit4.role("main")
kit4.start([sys.executable, __file__, "train"], "trainer", start_new_session=True)
seen = 0
while seen < 2:
    if os.path.exists("step%d.ckpt" % seen):
        kit4.compute(1)
        print("evaluated step %d: 0.8%d" % (seen, seen), flush=True)
        seen += 1
    time.sleep(2)
