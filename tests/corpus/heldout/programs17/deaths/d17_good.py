"""A helper is ended, a download fails once and is done again: a good end."""
from kitd17 import *

helper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
told(15)
try:
    raise ConnectionResetError(104, "Connection reset by peer")
except OSError:
    traceback.print_exc()
    say("download of shard-0004 failed, done again")
told(15, begin=15)
helper.kill()
say("helper ended with %d" % helper.wait())
print("finished: 30 steps", flush=True)
