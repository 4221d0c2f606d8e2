"""A notebook's kernel: cells come by a pipe, its reader thinks for a minute between two of them."""
import subprocess
import sys
import time

import kit4

if sys.argv[1:] == ["kernel"]:
    space = {}
    for line in sys.stdin:
        exec(line, space)
        sys.stdout.write("ok\n")
        sys.stdout.flush()
    sys.exit(0)
kit4.role("main")
p = kit4.start([sys.executable, __file__, "kernel"], "kernel", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
for cell, think in (("import math; x = 3", 2), ("y = math.sqrt(x)", 70), ("print(y)", 1)):
    p.stdin.write(cell + "\n")
    p.stdin.flush()
    print(">", p.stdout.readline().strip(), flush=True)
    time.sleep(think)
p.stdin.close()
p.wait()
