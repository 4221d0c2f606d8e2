"""The scheduler announces the end of the job's time by SIGUSR1, as it was told to; the program has no handler for it."""
from kitd22 import role, told

role("main")
told(300)
