"""A library is too old for an extension."""
from job import *

train(0, 3)
raise ImportError("/usr/lib/x86_64-linux-gnu/libstdc++.so.6: version `GLIBCXX_3.4.32' not found (required by /opt/env/lib/_C.so)")
