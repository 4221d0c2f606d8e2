set -e
echo "preparing"; sleep 0.3
deepspeed_launch --num_gpus 8 train.py
