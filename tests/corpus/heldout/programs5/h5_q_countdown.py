"""Asks on its input whether to stop, with a limit of 70 s; the launcher's pipe says nothing, and it goes on."""
import os
import select
import subprocess
import sys

import kit5


def main():
    kit5.role("main")
    print("training begins in 70 s, press enter to stop", flush=True)
    if select.select([sys.stdin], [], [], 70)[0]:
        raise SystemExit("stopped")
    for step in range(10):
        kit5.crunch(0.2)
        print("step", step, flush=True)


if "GO" in os.environ:
    main()
else:
    kit5.role("launcher")
    p = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, env=dict(os.environ, GO="1"))
    code = p.wait()
    p.stdin.close()
    sys.exit(code)
