# Starts a server that loads its weights for a minute, and waits until its log says that it is ready.
note() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
note main $$
: > server.log
(note server $BASHPID; sleep 60; echo "ready on port 8000"; for k in 1 2 3 4 5 6; do sleep 1; echo "request $k"; done) > server.log 2>&1 &
(note tail $BASHPID; exec tail -n +1 -f server.log) | grep -q ready
echo "evaluating"
wait %1
echo "done"
