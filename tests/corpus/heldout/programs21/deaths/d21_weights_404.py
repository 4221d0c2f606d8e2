"""The server of weights does not know the revision that is asked for."""
import http.server
import threading
import urllib.request

from kitd21 import told


class Hub(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_error(404)

    def log_message(self, *words):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Hub)
threading.Thread(target=server.serve_forever, daemon=True).start()
told(20)
urllib.request.urlopen("http://127.0.0.1:%d/resolve/v1.1/model.safetensors" % server.server_port)
