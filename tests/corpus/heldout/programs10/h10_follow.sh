# Starts a server, waits until its log says that it is ready, and evaluates. grep has seen the line and is gone; who follows the log will see that when
# it hands on the next line, and the server writes none until somebody asks it.
note() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
follow() {
    exec 3< "$1"
    while :; do
        if read -r line <&3; then echo "$line"; else sleep 0.5; fi
    done
}
note main $$
: > server.log
(echo "loading weights"; sleep 2; echo "ready on port 8000"; note server $BASHPID; exec sleep 100000) > server.log 2>&1 &
(note follower $BASHPID; follow server.log) | grep -q ready
echo "evaluating"
for k in 1 2 3; do echo "task $k: 0.6"; sleep 1; done
kill %1
