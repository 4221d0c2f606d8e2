# A generator fills a pipe whose reader takes a line each 6 s: each line is uploaded somewhere slow.
note() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
note main $$
generate() {
    note generator $BASHPID
    for n in $(seq 1 20); do
        printf 'sample %d %09000d\n' "$n" "$n"
    done
}
generate | while read -r word n rest; do
    [ "$n" -le 8 ] && { sleep 0.3; echo "uploaded $n"; continue; }
    sleep 6
done
echo "all uploaded"
