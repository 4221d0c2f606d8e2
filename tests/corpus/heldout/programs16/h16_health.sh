#!/bin/bash
# Trains, then starts the model as a service and waits until /health says 200. The service loads the model with the
# first request for a prediction, and is healthy when it is loaded; the script sends the first one when it is healthy.
python=$1
[ -n "$CORPUS_ROLES" ] && echo "main $$" >> "$CORPUS_ROLES"

cat > service.py <<'PY'
import http.server
import os
import sys
model = []
class Model(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/predict" and not model:
            model.append("weights")
        self.send_response(200 if model else 503)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *_):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Model).serve_forever()
PY

for step in $(seq 0 5 40); do
    echo "step $step"
    sleep 1
done
port=$((4000 + $$ % 5000))
"$python" service.py $port &
service=$!
[ -n "$CORPUS_ROLES" ] && echo "service $service" >> "$CORPUS_ROLES"
trap 'kill $service' EXIT TERM
until curl -sf -o health.txt "http://127.0.0.1:$port/health"; do
    sleep 1
done
curl -sf "http://127.0.0.1:$port/predict"
echo "service is up"
