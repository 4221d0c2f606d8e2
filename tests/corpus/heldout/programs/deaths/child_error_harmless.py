"""A child fails, the job expects that and ends well."""
from job import *

train(0, 5)
p = subprocess.run([sys.executable, "-c", "raise RuntimeError('no such gpu')"])
print("probe said", p.returncode, flush=True)
train(5, 60)
