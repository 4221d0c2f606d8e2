import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

def watch():
    time.sleep(2.5)
    say("watchdog: no step for 2 s (limit 2 s), aborting the process")
    os.kill(os.getpid(), signal.SIGABRT)
threading.Thread(target=watch, daemon=True).start()
steps(10)
time.sleep(30)
