import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

role("main")
for i in range(400):
    log(i)
    if i % 9 == 4:
        try:
            raise OSError(f"cannot identify image file 'img_{i}.jpg'")
        except OSError:
            logging.exception("skipping sample %d", i)
    time.sleep(0.05)
