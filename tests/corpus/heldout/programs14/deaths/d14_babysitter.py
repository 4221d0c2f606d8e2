"""A process that looks after the trainer sees no new checkpoint for a while, and kills it."""
from kitd14 import *

if "watch" in sys.argv:
    role("babysitter")
    seen = time.time()
    while time.time() - seen < 8:
        time.sleep(0.5)
    os.kill(int(sys.argv[2]), signal.SIGKILL)
    time.sleep(3)
else:
    role("main")
    subprocess.Popen([sys.executable, __file__, "watch", str(os.getpid())], start_new_session=True)
    told(600)
