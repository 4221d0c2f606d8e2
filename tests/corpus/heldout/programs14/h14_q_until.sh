# A script trains, and then waits for the server of the evaluation to come up: it asks once in five seconds.
# The server loads its model for 50 s.
py="${@: -1}"
here="$(dirname "$0")"
[ -n "$CORPUS_ROLES" ] && echo "main $$" >>"$CORPUS_ROLES"
for step in $(seq 0 5 45); do
    sleep 0.8
    echo "step $step trained"
done
port="$("$py" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
"$py" -c '
import http.server, os, sys, time
time.sleep(50)
handler = http.server.SimpleHTTPRequestHandler
handler.log_message = lambda *words: None
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), handler).serve_forever()' "$port" &
server=$!
[ -n "$CORPUS_ROLES" ] && echo "server $server" >>"$CORPUS_ROLES"
until curl -sf -o /dev/null "http://127.0.0.1:$port/"; do
    sleep 5
done
echo "evaluation server is up"
kill "$server"
wait "$server" 2>/dev/null
echo "done"
