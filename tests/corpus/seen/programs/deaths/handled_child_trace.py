"""A child's traceback is in the log, it was retried and went well; then the main program fails."""
from job import *

subprocess.run([sys.executable, "-c", "raise OSError('part 3 could not be unpacked')"])
print("unpack: second attempt ok", flush=True)
train(0, 150, 0.004)
raise ArithmeticError("loss scale is 0")
