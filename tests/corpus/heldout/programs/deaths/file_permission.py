"""A folder that this user may not read."""
from job import *

import tempfile
d = tempfile.mkdtemp()
os.chmod(d, 0o700)
open(d + "/weights.bin", "w").close()
train(0, 5)
os.seteuid(65534)
open(d + "/weights.bin")
