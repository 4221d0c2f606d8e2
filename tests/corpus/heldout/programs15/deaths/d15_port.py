"""After training a server for the evaluation is to listen at a port that another part of the job still has."""
import socket

from kitd15 import *

role("main")
first = socket.create_server(("127.0.0.1", 0))
told(70)
socket.create_server(("127.0.0.1", first.getsockname()[1]))
