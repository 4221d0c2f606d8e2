#!/bin/bash
set -o pipefail
echo "sampling lines"
sleep 1.5
yes "a line of text" | head -n 3
