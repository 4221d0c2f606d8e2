# Two preprocessing jobs and a board for their curves, in the background; then the script waits for all of them, and the board never ends.
note() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
part() { for k in 1 2 3 4 5 6; do echo "part $1: file $k"; sleep 0.5; done; }
note main $$
(note board $BASHPID; exec "$1" -c "import http.server; http.server.HTTPServer(('127.0.0.1', 0), http.server.BaseHTTPRequestHandler).serve_forever()") &
part 0 &
part 1 &
wait
echo "training"
