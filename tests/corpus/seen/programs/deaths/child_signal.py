"""CalledProcessError: the child was killed by a signal from outside."""
from job import *

train(0, 5)
p = subprocess.Popen(["sleep", "60"])
role("child", p.pid)
if p.wait():
    raise subprocess.CalledProcessError(p.returncode, p.args)
