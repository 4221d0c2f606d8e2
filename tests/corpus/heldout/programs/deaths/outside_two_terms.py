"""The first SIGTERM is caught and the job saves; SIGKILL comes as it takes too long."""
from job import *

role("main")
def save(*_):
    print("SIGTERM: saving 70 GB", flush=True)
    time.sleep(60)
signal.signal(signal.SIGTERM, save)
warm()
train(25, 400, 0.1)
