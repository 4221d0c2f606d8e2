set -o pipefail
echo "step 1 loss 2.0"; echo "step 2 loss 1.9"
yes "sample" | head -n 3
