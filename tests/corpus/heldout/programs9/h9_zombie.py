"""Main has started an export and does not wait for it; a script that comes after the export looks whether its pid is still there. The
export has ended, and its pid stays, as main has not taken its status; main waits for the script."""
import subprocess
import sys

import kit9

AFTER = 'while kill -0 "$1" 2>/dev/null; do sleep 1; done; echo "export has ended, publishing"'

kit9.role("main")
export = kit9.start([sys.executable, "-c", "import time; time.sleep(3); print('exported', flush=True)"], "export")
for s in range(10):
    kit9.crunch(0.2)
    kit9.step(0, s, 10)
publish = kit9.start(["bash", "-c", AFTER, "publish", str(export.pid)], "publish")
subprocess.Popen.wait(publish)
print("all done, export gave", export.wait(), flush=True)
