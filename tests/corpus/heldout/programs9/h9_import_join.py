"""A settings module warms a tokenizer up in a thread while it is imported, and waits for it; the thread imports the settings."""
import os
import sys

import kit9

SETTINGS = """
import threading
result = []

def warm_up():
    import settings
    result.append(settings.__name__)

thread = threading.Thread(target=warm_up)
thread.start()
thread.join()
"""

kit9.role("main")
for k in range(5):
    kit9.crunch(0.1)
    print("checking shard", k, flush=True)
with open("settings.py", "w") as f:
    f.write(SETTINGS)
sys.path.insert(0, os.getcwd())
import settings  # noqa: E402

print("settings", settings.result, flush=True)
