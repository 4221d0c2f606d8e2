#!/bin/bash
# A script copies a checkpoint in the background, slowly, and waits for that before its second stage.
for step in $(seq 0 5 60); do
    echo "step $step loss 1.$step"
    sleep 0.6
done
(
    for part in $(seq 50); do
        head -c 100000 /dev/zero >> copy.ckpt
        sleep 1
    done
) &
echo "stage 2 waits for the copy"
wait
for step in $(seq 65 5 90); do
    echo "step $step loss 0.$step"
    sleep 0.6
done
