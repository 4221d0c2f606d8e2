"""The terminal in which a training was started is closed."""
from kitd22 import role, told

role("main")
told(300)
