from kitd6 import *
role("main")
kept = grow(8, 0.1, 200)
epochs(3)
raise MemoryError("feature cache: quota of 200 MiB is used up, raise cache.quota_mib")
