"""The program logs JSON, the error is a field of the last record."""
from job import *

import json
for i in range(20):
    print(json.dumps({"level": "info", "step": i, "loss": 1.0}), flush=True)
print(json.dumps({"level": "critical", "msg": "training aborted", "error": "KeyError: 'attention_mask'", "step": 20}), flush=True)
sys.exit(1)
