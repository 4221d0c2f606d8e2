# A script trains, starts a server for the model and asks it for /health each second until it is well; then it would have
# it answer. The server knows /healthz only, and answers 404 to everything else.
# With "slow" the server loads for 48 s, during which it answers 503, and /health is known.
role() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
role main $$
slow= python=$1
[ "$1" = slow ] && slow=slow python=$2
cat > train.py <<'PROGRAM'
import time
for step in range(45):
    time.sleep(0.2)
    if step % 5 == 0:
        print("step %d loss %.4f" % (step, 2.5 / (1 + 0.1 * step)))
PROGRAM
cat > serve.py <<'PROGRAM'
import http.server
import os
import sys
import time

begin = time.monotonic()


class Model(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        loaded = time.monotonic() - begin > (48 if "slow" in sys.argv else 3)
        known = ["/healthz", "/health"] if "slow" in sys.argv else ["/healthz"]
        self.send_response((200 if loaded else 503) if self.path in known else 404)
        self.end_headers()

    def log_message(self, *words):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Model)
with open("port.new", "w") as f:
    f.write("%d\n" % server.server_address[1])
os.rename("port.new", "port")
server.serve_forever()
PROGRAM
"$python" -u train.py
"$python" serve.py $slow &
server=$!
role server $server
trap 'kill $server' EXIT
until [ -e port ]; do sleep 0.2; done
port=$(cat port) status=
until [ "$status" = 200 ]; do
    sleep 1
    exec 3<> "/dev/tcp/127.0.0.1/$port"
    printf 'GET /health HTTP/1.0\r\n\r\n' >&3
    read -r _ status _ <&3
    exec 3>&-
done
echo "the model is served"
