"""A script that a program runs was written on another system: its first line ends with CR LF."""
from kitd17 import *

with open("prepare.sh", "w", newline="") as f:
    f.write("#!/bin/sh\r\necho prepared\r\n")
os.chmod("prepare.sh", 0o755)
told(20)
subprocess.check_call(["./prepare.sh"])
