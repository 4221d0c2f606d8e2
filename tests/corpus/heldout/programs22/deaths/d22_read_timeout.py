"""A server of embeddings has accepted a request and does not answer in time."""
import http.server
import threading
import time
import urllib.request

from kitd22 import told


class Embeddings(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path.endswith("2"):
            time.sleep(30)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Embeddings)
threading.Thread(target=server.serve_forever, daemon=True).start()
for epoch in range(5):
    told(10, 10 * epoch)
    urllib.request.urlopen("http://127.0.0.1:%d/embed/%d" % (server.server_port, epoch), timeout=2).read()
