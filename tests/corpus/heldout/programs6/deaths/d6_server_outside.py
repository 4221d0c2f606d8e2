from kitd6 import *
import http.server
import urllib.request
class Shard(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/shard/8":
            time.sleep(60)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"shard")
    def log_message(self, *words): pass
if sys.argv[1:]:
    http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Shard).serve_forever()
with socket.socket() as s:
    s.bind(("127.0.0.1", 0))
    port = s.getsockname()[1]
p = subprocess.Popen([sys.executable, __file__, str(port)])
time.sleep(1)
for n in range(30):
    if n == 8:
        role("server", p.pid)
    urllib.request.urlopen(f"http://127.0.0.1:{port}/shard/{n}").read()
    epochs(1, n + 1, 0.15)
