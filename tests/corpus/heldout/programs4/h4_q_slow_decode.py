"""A film is decoded by a child that gives a picture every fifteen seconds; the trainer reads from the pipe."""
import sys
import time

import kit4

if sys.argv[1:] == ["decode"]:
    for k in range(5):
        kit4.compute(5)
        time.sleep(10)
        sys.stdout.write("picture %d\n" % k)
        sys.stdout.flush()
    sys.exit(0)
kit4.role("main")
p = kit4.start([sys.executable, __file__, "decode"], "decoder", stdout=-1, text=True)
print("training on a film", flush=True)
n = 0
for line in p.stdout:
    n += 1
print("%d pictures" % n)
