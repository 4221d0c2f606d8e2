"""A worker crashes and is started again, an error is told with its traceback, and the job ends well."""
import subprocess

from kitd11 import *

role("main")
updates(5)
p = subprocess.run([sys.executable, "-c", "import os; os.abort()"], stderr=subprocess.DEVNULL)
say("ERROR: decoder was ended by signal %d, starting it again" % -p.returncode)
updates(5)
try:
    open("/nonexistent/vocab.json")
except OSError:
    traceback.print_exc()
    say("CRITICAL: no vocabulary there, the built-in one is taken")
updates(10)
print("training done, best loss 0.451", flush=True)
