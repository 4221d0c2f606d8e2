"""The data are unpacked by tar, whose archive is not there; check=True tells its status only."""
from kitd14 import *

told(60)
subprocess.run(["tar", "-xf", "laion-part-00042.tar"], check=True)
