# What two ranks print goes through a pipe to a shipper, which posts it to a collector.
py="${@: -1}"
here="$(dirname "$0")"
[ -n "$CORPUS_ROLES" ] && echo "launcher $$" >> "$CORPUS_ROLES"
port='import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
export WORLD_SIZE=2 MASTER_PORT="$("$py" -c "$port")"
"$py" "$here/h13_shipper.py" collector "$1" &
{
    RANK=0 LOCAL_RANK=0 "$py" "$here/h13_shipper.py" train "$1" &
    first=$!
    RANK=1 LOCAL_RANK=1 "$py" "$here/h13_shipper.py" train "$1" &
    wait $first && wait $!
} | "$py" "$here/h13_shipper.py" ship "$1"
