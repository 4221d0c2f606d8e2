from kitd8 import *
import subprocess
if sys.argv[1:]:
    role("trainer")
    fit(400)
p = subprocess.Popen([sys.executable, "-u", __file__, "train"])
time.sleep(4)
say("guard: trainer has passed its budget of 2 h GPU time, killing it")
p.kill()
p.wait()
sys.exit(3)
