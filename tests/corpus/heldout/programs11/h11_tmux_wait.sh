#!/bin/bash
# Training runs in a window of tmux and says by `tmux wait-for -S` that it has ended. It fails before that, as `set -e` is on; the script waits for the word.
echo "main $$" >> "${CORPUS_ROLES:-/dev/null}"
export TMUX_TMPDIR=$PWD
server="h11-$$"
cat > stage.sh <<'STAGE'
set -e
for k in 1 2 3; do sleep 0.7; echo "step $k" >> stage.log; done
[ -f pretrained.bin ]
tmux -L "$1" wait-for -S trained
STAGE
tmux -L "$server" -f /dev/null new-session -d -s train "bash stage.sh $server; sleep 100000"
echo "server $(tmux -L "$server" display-message -p '#{pid}')" >> "${CORPUS_ROLES:-/dev/null}"
echo "waiting for the training"
bash -c 'echo "client $$" >> "${CORPUS_ROLES:-/dev/null}"; exec tmux -L "$0" wait-for trained' "$server"
echo "exporting"
