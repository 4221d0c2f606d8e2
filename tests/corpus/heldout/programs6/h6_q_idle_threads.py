"""A server of threads answers some requests, then nobody asks for 70 s, then the last client comes and it ends."""
import http.server
import sys
import threading
import time

import kit6


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        print("GET", self.path, flush=True)
        if self.path == "/last":
            threading.Thread(target=self.server.shutdown).start()

    def log_message(self, *words):
        pass


if sys.argv[1:]:
    for path in [*"abcdefgh", "last"]:
        time.sleep(70 if path == "last" else 0.4)
        kit6.http_get(int(sys.argv[1]), "/" + path)
else:
    kit6.role("main")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    client = kit6.start([sys.executable, __file__, str(server.server_port)], "client")
    server.serve_forever()
    client.wait()
