# Ranks started by a shell, with all output through tee; the tee gets stopped and the pipe fills.
here=$(dirname "$0")
dir=$(mktemp -d)
trap 'kill -9 $(jobs -p) 2>/dev/null; rm -rf "$dir"; exit 143' TERM INT
say() { echo "$1 $2" >> "${CORPUS_ROLES:-/dev/null}"; }
say launcher $$
mkfifo "$dir/log"
tee "$dir/train.log" < "$dir/log" &
tee=$!
say tee $tee
exec 3> "$dir/log"
export WORLD_SIZE=4 MASTER_ADDR=127.0.0.1 JOB_TMP=$dir
MASTER_PORT=$("$1" -c 'import socket; s=socket.socket(); s.bind(("127.0.0.1",0)); print(s.getsockname()[1])')
export MASTER_PORT
for r in 0 1 2 3; do
    RANK=$r LOCAL_RANK=$r "$1" "$here/tee_train.py" >&3 3>&- &
done
exec 3>&-
sleep 9
kill -STOP $tee
wait
