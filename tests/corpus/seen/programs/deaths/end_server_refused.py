"""The tracker refuses all connections; the program leaves by choice."""
from job import *

train(0, 20)
s = socket.socket()
s.bind(("127.0.0.1", 0))
port = s.getsockname()[1]
s.close()
socket.create_connection(("127.0.0.1", port))
