#!/bin/bash
# A training and a watcher of its metrics, over a FIFO. At the end of the training the script reads a summary from a second FIFO, which
# the watcher should open, but the watcher has ended: its pattern was wrong, and `|| true` hid it.
# slow: the watcher is there, and sorts for 66 s before it writes the summary.
python=$1
[ "$2" != "" ] && { python=$2; slow=$1; }
note() { [ -n "$CORPUS_ROLES" ] && echo "$1 $2" >> "$CORPUS_ROLES"; }
note main $BASHPID
mkfifo metrics summary
watcher() {
    note watcher $BASHPID
    grep -c loss > seen < metrics
    if [ -n "$slow" ]; then sleep 66; else { grep -E '[' seen 2> /dev/null && exec 3> summary; } || return 0; fi
    cat seen > summary
}
watcher &
exec 4> metrics
for step in $(seq 0 110); do
    sleep 0.2
    echo "step $step loss 0.$((900 - step))" >&4
    [ $((step % 5)) -eq 0 ] && echo "step $step loss 0.$((900 - step))"
done
exec 4>&-
read -r lines < summary
echo "steps: $lines"
