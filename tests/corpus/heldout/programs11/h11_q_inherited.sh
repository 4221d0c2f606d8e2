#!/bin/bash
# A script takes a lock and starts an upload in the background, which has the lock's descriptor as well. The next stage waits until the upload has ended, 52 s later.
echo "main $$" >> "${CORPUS_ROLES:-/dev/null}"
(
	flock 9
	for k in 1 2 3 4 5; do sleep 0.5; echo "stage one: part $k"; done
	bash -c 'echo "upload $$" >> "${CORPUS_ROLES:-/dev/null}"; sleep 52' &
) 9> pipeline.lock
(
	flock 9
	for k in 1 2 3 4 5; do sleep 0.5; echo "stage two: part $k"; done
) 9> pipeline.lock
