# Two ranks, started in a loop.
py="${@: -1}"
here="$(dirname "$0")"
port='import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
export WORLD_SIZE=2 MASTER_PORT="$("$py" -c "$port")"
for r in 0 1; do
    RANK=$r LOCAL_RANK=$r "$py" "$here/h13_map.py" "$1" &
done
wait
