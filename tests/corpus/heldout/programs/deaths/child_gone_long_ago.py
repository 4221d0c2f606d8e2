"""A server died of its own assertion, many steps later the trainer cannot reach it."""
from job import *

def server():
    train(0, 2)
    assert False, "embedding table has 0 rows"
def serve():
    try:
        server()
    except AssertionError:
        import traceback
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
fork("server", serve)
train(0, 100, 0.02)
raise ConnectionRefusedError(111, "Connection refused: embedding server on port 5555")
