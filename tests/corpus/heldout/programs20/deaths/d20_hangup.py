"""The connection to the machine breaks off, and its terminal's hangup ends the trainer that runs there."""
from kitd20 import *

role("main")
told(600)
