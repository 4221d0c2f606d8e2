#!/bin/bash
# Three ranks in the shell's background, numbered by the environment. They meet by files, one for each rank and epoch. Rank 2's name has
# a zero before its epoch ("%02d" was put in by a colleague); it finds the others', they look for its.
# slow: names are right, rank 2 evaluates for 67 s before it touches its file.
python=$1
[ "$2" != "" ] && { python=$2; slow=$1; }
note() { [ -n "$CORPUS_ROLES" ] && echo "$1 $2" >> "$CORPUS_ROLES"; }
meet() {
    local name=$1
    [ "$RANK" = 2 ] && [ -z "$slow" ] && [ "$1" = 8 ] && name=0$1
    touch "ready.$name.$RANK"
    for r in 0 1 2; do
        until [ -e "ready.$1.$r" ]; do sleep 0.3; done
    done
}
work() {
    export RANK=$1 WORLD_SIZE=3
    for epoch in $(seq 0 $((${#slow} ? 10 : 500))); do
        for step in 0 1 2 3 4 5 6 7 8 9; do
            sleep 0.25
        done
        [ "$RANK" = 0 ] && echo "epoch $epoch train_loss 1.$((500 - epoch))"
        [ -n "$slow" ] && [ "$RANK" = 2 ] && [ "$epoch" = 8 ] && sleep 67
        meet "$epoch"
    done
}
if [ -n "$RANK" ]; then
    note rank$RANK $$
    work "$RANK"
    exit 0
fi
note launcher $$
for r in 0 1 2; do
    RANK=$r WORLD_SIZE=3 bash "$0" $slow "$python" &
done
wait
