"""A tool fails at first, with a traceback, and is called again; a thread's failure is caught."""
from kitd18 import *

TOOL = "import os, sys\nif not os.path.exists('tried'):\n    open('tried', 'w')\n    raise OSError('No space left on device')\n"


def prepare():
    for attempt in range(3):
        if subprocess.run([sys.executable, "-c", TOOL]).returncode == 0:
            return
        say("tool failed, attempt %d" % (attempt + 2))
        time.sleep(0.5)
    sys.exit(1)


def upload():
    try:
        socket.create_connection(("127.0.0.1", 1), timeout=1)
    except OSError:
        traceback.print_exc()
        say("upload left out")


told(15)
prepare()
told(15, 15)
thread = threading.Thread(target=upload)
thread.start()
thread.join()
told(10, 30)
print("finished: 40 steps", flush=True)
