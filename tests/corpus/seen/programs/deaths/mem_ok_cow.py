"""Six children share 200 MiB of their parent: their RSS is over the limit, their memory is not."""
from mem import *

role("main")
index = block(200)
def reader():
    for _ in range(20):
        sum(index[::4096])
        time.sleep(0.1)
pids = [fork(f"reader{i}", reader) for i in range(6)]
for p in pids:
    os.waitpid(p, 0)
train(0, 10)
