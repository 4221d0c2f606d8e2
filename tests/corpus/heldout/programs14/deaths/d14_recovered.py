"""A loader was killed and an upload failed, both were tried again; the end is a good one."""
from kitd14 import *

told(30)
p = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
p.kill()
say("loader 1 ended with %d, starting it again" % p.wait())
told(20, 30)
try:
    raise ConnectionResetError("upload of epoch 2: connection reset by peer")
except ConnectionResetError:
    traceback.print_exc()
    say("trying the upload again")
told(20, 50)
print("training finished", flush=True)
