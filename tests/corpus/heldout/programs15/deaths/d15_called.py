"""A tool for videos leaves with 3, and says why on its stderr; "check=True" tells only that."""
import subprocess

from kitd15 import *

TOOL = "import sys; print('moov atom not found: clip_00071.mp4', file=sys.stderr); sys.exit(3)"

role("main")
for step in range(200):
    told(1, step)
    if step % 70 == 69:
        subprocess.run([sys.executable, "-c", TOOL], check=True)
