#!/bin/bash
# The evaluation runs in a window of tmux for a minute, and signals a channel when it is done.
echo "main $$" >> "$CORPUS_ROLES"
socket=$PWD/tmux
tmux -S "$socket" -f /dev/null new-session -d -s work "sleep 1000"
echo "tmux $(tmux -S "$socket" display -p '#{pid}')" >> "$CORPUS_ROLES"
for k in $(seq 10); do echo "epoch $k/10"; sleep 0.3; done
tmux -S "$socket" new-window -d -t work "sh -c 'sleep 61; tmux -S $socket wait-for -S evaluated'"
echo "waiting for the evaluation"
tmux -S "$socket" wait-for evaluated
echo "evaluated, publishing"
tmux -S "$socket" kill-server
