#!/bin/bash
# Stage two begins when no process of stage one is there any more. What is looked for stands in the command line of a helper that the script itself has started.
echo "main $$" >> "${CORPUS_ROLES:-/dev/null}"
stage="preprocess-$$ --split"

bash -c 'for k in 1 2 3 4 5 6; do sleep 0.5; echo "split $k written"; done; : '"$stage" &
bash -c 'echo "watcher $$" >> "${CORPUS_ROLES:-/dev/null}"; while sleep 1; do pgrep -f -- "$0" > /dev/null || exit 0; done' "$stage" &
watcher=$!
wait "$watcher"
echo "training"
