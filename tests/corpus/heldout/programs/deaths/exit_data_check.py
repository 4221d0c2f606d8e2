"""A data check lists what is wrong and leaves with 65."""
from job import *

print("checking 3 shards", flush=True)
print("shard 1: ok\nshard 2: sha256 does not match the manifest\nshard 3: ok", flush=True)
sys.exit(65)
