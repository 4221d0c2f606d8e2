"""The reader of a pipe has gone: SIGPIPE."""
from job import *
role('main')
default(signal.SIGPIPE)
r, w = os.pipe()
warm()
os.close(r)
os.write(w, b'metrics')
