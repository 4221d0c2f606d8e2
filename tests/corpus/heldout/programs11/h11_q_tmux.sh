#!/bin/bash
# Training runs in a window of tmux for 54 s and says by `tmux wait-for -S` that it has ended.
echo "main $$" >> "${CORPUS_ROLES:-/dev/null}"
export TMUX_TMPDIR=$PWD
server="h11q-$$"
tmux -L "$server" -f /dev/null new-session -d -s train "sleep 54; tmux -L $server wait-for -S trained; sleep 30"
echo "server $(tmux -L "$server" display-message -p '#{pid}')" >> "${CORPUS_ROLES:-/dev/null}"
echo "waiting for the training"
tmux -L "$server" wait-for trained
for k in $(seq 12); do sleep 0.4; echo "exporting part $k"; done
tmux -L "$server" kill-server
