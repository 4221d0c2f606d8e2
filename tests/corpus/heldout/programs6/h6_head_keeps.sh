# A cutter keeps the first shards and then waits for a go-ahead file before it reads more; the packer before it fills the pipe.
note() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
note main $$
pack() {
    note packer $BASHPID
    for n in $(seq 1 100000); do
        printf 'sample %08d %080d\n' "$n" "$n"
    done
}
cut_shards() {
    note cutter $BASHPID
    n=0
    while read -r line; do
        n=$((n + 1))
        [ $((n % 100)) -gt 0 ] || { echo "shard $((n / 100))"; sleep 0.3; }
        if [ "$n" -eq 1500 ]; then
            until [ -e approved.flag ]; do sleep 0.5; done
        fi
    done
}
pack | cut_shards
