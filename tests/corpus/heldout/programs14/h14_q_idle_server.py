"""A server of a model answers requests, is asked nothing for 60 s, and then again; it ends when a client
tells so."""
import http.server
import sys
import threading
import time
import urllib.request

from kit14 import crunch, me, role, start


class Model(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        crunch(0.1)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"cat")
        print("served %s" % self.path, flush=True)
        if self.path == "/stop":
            threading.Thread(target=self.server.shutdown).start()

    def log_message(self, *words):
        pass


def client(port):
    me("client")
    for k in range(60):
        urllib.request.urlopen("http://127.0.0.1:%d/predict/%d" % (port, k)).read()
        time.sleep(60 if k == 40 else 0.1)
    urllib.request.urlopen("http://127.0.0.1:%d/stop" % port).read()


if "client" in sys.argv:
    client(int(sys.argv[2]))
else:
    role("main")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    asks = start([sys.executable, __file__, "client", str(server.server_port)], "client")
    server.serve_forever()
    sys.exit(asks.wait())
