# A script of two stages. The launcher of the second one gives the rank by an argument that the program does not know.
python=${!#}
for ((step = 0; step < 20; step++)); do
	sleep 0.1
	((step % 5)) || echo "step $step tokens $((step * 4096))"
done
exec "$python" - --lr 0.1 --local_rank=0 <<'P'
import argparse
parser = argparse.ArgumentParser(prog="finetune.py")
parser.add_argument("--lr", type=float)
parser.add_argument("--epochs", type=int, default=3)
print("rate", parser.parse_args().lr)
P
