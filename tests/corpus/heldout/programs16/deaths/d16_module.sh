#!/bin/bash
# Three steps of a recipe under set -e; the second one lacks a module.
set -e
python=$1
"$python" -c '
import time
for step in range(0, 20, 5):
    print("step", step, flush=True)
    time.sleep(0.4)'
echo "stage 1 done"
"$python" -c '
import json, time
import flash_norm_kernels
print("fused")'
echo "stage 2 done"
