"""Urllib gets a 500."""
from job import *

import http.server, urllib.request
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_error(500, "shard server has lost its index")
    def log_message(self, *a):
        pass
srv = http.server.HTTPServer(("127.0.0.1", 0), H)
threading.Thread(target=srv.serve_forever, daemon=True).start()
train(0, 20)
urllib.request.urlopen(f"http://127.0.0.1:{srv.server_port}/shard/1", timeout=5)
