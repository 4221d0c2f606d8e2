# A script converts shards, at most three at a time: a job takes a token out of a FIFO and puts it back at its end. With
# set -e a job that fails ends before that. After three that failed there are no tokens: the script waits for one, and
# nobody has any. With "slow" none fails, and three of them take 48 s.
set -e
role() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
python=${!#}
role main $$
mkfifo tokens
exec 3<>tokens
rm tokens
printf 'xxx' >&3

convert() {
    if [ "$2" = slow ] && [ "$1" -ge 20 ] && [ "$1" -lt 23 ]; then
        "$python" -c 'import time
e, x = time.monotonic() + 48, 1.0
while time.monotonic() < e:
    for k in range(20000): x = x * 0.999 + k
    time.sleep(0.1)'
    fi
    sleep 0.6
    case "$1:$2" in
    9:slow|17:slow|24:slow) ;;
    9:*|17:*|24:*) false ;;
    esac
}

for step in $(seq 0 39); do
    read -r -n 1 -u 3 token
    echo "step $step: shard $step"
    (
        convert "$step" "$1"
        printf x >&3
    ) &
done
wait
