"""The launcher ends a trainer over its time budget."""
from job import *

role("launcher")
p = subprocess.Popen([sys.executable, HERE + "/trainer.py"])
time.sleep(3)
print("launcher: trial 4 is over its budget of 3 s, killing it", flush=True)
p.kill()
sys.exit(128 - p.wait())
