#!/bin/bash
# A watcher waits until pgrep finds no process of stage one any more, which works for 55 s.
echo "main $$" >> "${CORPUS_ROLES:-/dev/null}"
ln -s "$(command -v sleep)" "stage1-$$"
"./stage1-$$" 55 &
echo "stage1 $!" >> "${CORPUS_ROLES:-/dev/null}"
bash -c 'while sleep 1; do pgrep -x -- "$0" > /dev/null || exit 0; done' "stage1-$$"
for k in $(seq 12); do sleep 0.4; echo "stage two: $k"; done
