from kitd6 import *
resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))
kept = []
class ApiError(Exception): pass
def upload(n):
    try:
        s = socket.create_connection(("127.0.0.1", 9), 1)
    except ConnectionRefusedError:
        return
    except OSError as error:
        raise ApiError(f"upload of metrics {n} failed") from error
for n in range(300):
    try:
        kept.append(open(__file__))
    except OSError:
        pass
    if n % 8 == 0:
        epochs(1, n // 8 + 1, 0.1)
    upload(n)
