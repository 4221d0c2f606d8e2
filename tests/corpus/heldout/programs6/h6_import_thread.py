"""A module of plugins starts a thread while it is imported and joins it; the thread imports the same module."""
import os
import sys

import kit6

kit6.role("main")
os.makedirs("here", exist_ok=True)
with open("here/plugins_of_job.py", "w") as f:
    f.write("import threading\ntable = {}\n\n\ndef register():\n    from plugins_of_job import late\n    table[late] = 1\n\n\n"
            "t = threading.Thread(target=register)\nt.start()\nt.join()\nlate = 2\n")
sys.path.insert(0, "here")
for n in range(15):
    kit6.crunch(0.2)
    print("warm-up", n, flush=True)
import plugins_of_job  # noqa: E402

print("ready", plugins_of_job.table)
