"""A server accepts and never answers: a time-out."""
from job import *

s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
train(0, 20)
c = socket.create_connection(s.getsockname(), timeout=1)
c.recv(1)
