from kitd9 import *

for shard in range(4):
    for attempt in range(3):
        code = subprocess.run([sys.executable, "-c", "import os; os.kill(os.getpid(), %d)" % (9 if (shard, attempt) == (2, 0) else 0)]).returncode
        if code == 0:
            break
        print("shard %d: worker died with %d, trying again" % (shard, code), flush=True)
    steps(4, shard * 4)
print("all 4 shards done", flush=True)
