import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

steps(3)
try:
    try:
        socket.getaddrinfo("hub.invalid", 443)
    except OSError as e:
        raise ConnectionError("HTTPSConnectionPool(host='hub.invalid', port=443): Max retries exceeded with url: /models/base/config.json") from e
except ConnectionError as e:
    raise OSError("We couldn't connect to 'https://hub.invalid' to load this file, couldn't find it in the cached files and it looks like base is not the path to a directory containing a file named config.json.\nCheckout your internet connection or see how to run the library in offline mode.") from e
