"""A tuner asks its server for the next trial by a long poll: the answer comes when a trial is due, after a minute."""
import http.server
import sys
import time
import urllib.request

import kit4


class Trials(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(65 if self.path == "/next/2" else 0.3)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"lr=0.1")

    def log_message(self, *_):
        pass


if sys.argv[1:2] == ["serve"]:
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Trials).serve_forever()
kit4.role("main")
port = kit4.free_port()
kit4.start([sys.executable, __file__, "serve", str(port)], "tuner", start_new_session=True)
kit4.dial(port).close()
for k in range(4):
    trial = urllib.request.urlopen("http://127.0.0.1:%d/next/%d" % (port, k), timeout=120).read().decode()
    kit4.crunch(0.5)
    print("trial %d: %s" % (k, trial), flush=True)
