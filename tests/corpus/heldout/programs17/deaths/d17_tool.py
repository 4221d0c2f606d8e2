"""A tool tells what is wrong with a clip; the program only that the tool has failed."""
from kitd17 import *

TOOL = """
import sys
sys.stderr.write("decode: clip-0017.bin: bad header: want 52494646, found 3c68746d\\n")
sys.exit(69)
"""

told(20)
for k in range(16, 18):
    script = TOOL if k == 17 else "pass"
    subprocess.run([sys.executable, "-c", script, "--clip", "clip-%04d.bin" % k], check=True)
