import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

import urllib.request
def fetch():
    for k in range(3):
        try:
            return urllib.request.urlopen("http://hub.invalid/model", timeout=3)
        except OSError as e:
            say(f"WARNING attempt {k + 1}/3 failed: {e}")
            last = e
    raise ConnectionError("We couldn't connect to 'http://hub.invalid' to load the files, and couldn't find them in the cache.") from last
fetch()
