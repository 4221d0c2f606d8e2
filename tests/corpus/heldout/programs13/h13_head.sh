# As under Slurm: eight tasks of one script. Task 0 is to start the head and to tell its address in a file; its
# check of the data fails and it leaves, which is nobody's business here. The other seven look for the file.
py="${@: -1}"
[ "$1" = slow ] && slow=1
[ -n "$CORPUS_ROLES" ] && echo "launcher $$" >> "$CORPUS_ROLES"

task() {
    [ -n "$CORPUS_ROLES" ] && echo "rank$SLURM_PROCID $BASHPID" >> "$CORPUS_ROLES"
    if [ "$SLURM_PROCID" = 0 ]; then
        echo "task 0: starting head on $(uname -n)"
        sleep 2
        if [ -z "$slow" ]; then
            echo "task 0: /data/index.json: No such file or directory" >&2
            exit 3
        fi
        sleep 45
        echo "127.0.0.1 $$" > head.addr
    fi
    until [ -s head.addr ]; do sleep 2; done
    echo "task $SLURM_PROCID: joined $(cat head.addr)"
    sleep 2
}

for i in 0 1 2 3 4 5 6 7; do
    SLURM_PROCID=$i SLURM_NTASKS=8 SLURM_LOCALID=$i task &
done
wait
echo "all tasks left"
