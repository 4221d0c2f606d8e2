import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

import io, zipfile
steps(4)
zipfile.ZipFile(io.BytesIO(b"PK\x03\x04" + b"\0" * 400))
