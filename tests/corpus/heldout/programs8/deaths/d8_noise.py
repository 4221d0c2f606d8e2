from kitd8 import *
import subprocess
import warnings
for n in range(3):
    fit(4, n * 4)
    try:
        json.loads("{")
    except ValueError:
        traceback.print_exc()
    warnings.warn("Killed: worker restarted, Segmentation fault ignored")
subprocess.run(["sh", "-c", "kill -9 $$"])
log.info("done")
