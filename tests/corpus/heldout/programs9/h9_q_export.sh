#!/bin/bash
# Looks once a second whether an export of another session is still there, which ends after a minute.
echo "main $$" >> "$CORPUS_ROLES"
pid=$(setsid bash -c 'sleep 63 >/dev/null 2>&1 & echo $!')
echo "export $pid" >> "$CORPUS_ROLES"
for k in 1 2 3 4 5 6 7 8; do echo "packing $k"; sleep 0.3; done
alive() { [ "$(ps -o stat= -p "$pid" | cut -c1)" ] && [ "$(ps -o stat= -p "$pid" | cut -c1)" != Z ]; }
while alive; do sleep 1; done
echo "export has ended"
for k in 1 2 3 4 5 6 7 8; do echo "publishing $k"; sleep 0.3; done
