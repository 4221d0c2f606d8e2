"""The parent reads its child's lines slowly; the child often stands in a full pipe."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import subprocess
import time

CHILD = "import sys\nfor i in range(36):\n    sys.stdout.write('%06d ' % i * 2000 + '\\n')\n"


def main():
    kit.role("main")
    p = subprocess.Popen([sys.executable, "-c", CHILD], stdout=subprocess.PIPE)
    kit.role("reader", p.pid)
    n = 0
    for line in p.stdout:
        n += 1
        time.sleep(0.2 if n < 12 else 2.5)
        if n < 12:
            kit.step(n)
    p.wait()


main()
