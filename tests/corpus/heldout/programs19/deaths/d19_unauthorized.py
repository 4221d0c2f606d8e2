"""The token of a model registry has expired by the end of the training."""
import http.server
import urllib.request

from kitd19 import *


class Registry(http.server.BaseHTTPRequestHandler):
    def do_PUT(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(401)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *words):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Registry)
threading.Thread(target=server.serve_forever, daemon=True).start()
told(40)
url = "http://127.0.0.1:%d/models/run-7" % server.server_address[1]
request = urllib.request.Request(url, b"weights", method="PUT", headers={"Authorization": "Bearer 0c9e"})
urllib.request.urlopen(request)
