# xargs runs a converter for each name of a list. The lister has given all names and now waits for a file that says that no more will come.
note() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
note main $$
list() {
    note lister $BASHPID
    seq 1 24
    until [ -e inbox/CLOSED ]; do sleep 1; done
}
mkdir -p inbox
list | (note xargs $BASHPID; exec xargs -P 2 -n 1 sh -c 'sleep 0.3; echo "converted $0"')
echo "all are converted"
