"""Subprocess.run(check=True): the reason is what the child said."""
from job import *

train(0, 5)
subprocess.run([sys.executable, "-c", "import sys; sys.exit('preprocess: column text is missing in part 3')"], check=True)
