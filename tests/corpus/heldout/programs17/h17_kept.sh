# A launcher starts two ranks as scripts. Where a rank's program fails, its script keeps the container for debugging: it
# sleeps for ever. Rank 1 fails in step 40; rank 0 waits for it at the coordinator.
here=$(dirname "$0")
role() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }

if [ -n "$RANK" ]; then
    role "rank$RANK" $$
    "$1" "$here/h17_kept_train.py" || {
        echo "rank $RANK failed with $?, the container is kept" >&2
        bash -c '[ -z "$CORPUS_ROLES" ] || echo "sleeper $$" >> "$CORPUS_ROLES"; exec sleep infinity'
    }
    exit
fi
role launcher $$
port=$("$1" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
export MASTER_PORT=$port WORLD_SIZE=2
"$1" "$here/kit17.py" "$port" 2 &
role coordinator $!
for r in 0 1; do
    RANK=$r LOCAL_RANK=$r bash "$0" "$1" &
    ranks="$ranks $!"
done
wait $ranks
