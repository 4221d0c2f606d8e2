#!/bin/bash
# Trains, then starts the model as a service and waits until /health says 200: it loads for 50 s.
python=$1
[ -n "$CORPUS_ROLES" ] && echo "main $$" >> "$CORPUS_ROLES"

cat > service.py <<'PY'
import http.server
import sys
import threading
import time
model = []
def load():
    end, x = time.time() + 50, 1.0
    while time.time() < end:
        x = sum(x * 0.9 + k for k in range(2000)) % 7
    model.append(x)
class Model(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if model else 503)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *_):
        pass
threading.Thread(target=load, daemon=True).start()
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Model).serve_forever()
PY

for step in $(seq 0 5 30); do
    echo "step $step"
    sleep 1
done
port=$((4000 + $$ % 5000))
"$python" service.py $port &
service=$!
[ -n "$CORPUS_ROLES" ] && echo "service $service" >> "$CORPUS_ROLES"
until curl -sf -o health.txt "http://127.0.0.1:$port/health"; do
    sleep 1
done
echo "service is up"
kill $service
