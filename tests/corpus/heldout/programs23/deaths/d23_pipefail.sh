# A pipe of two programs, of which the first one fails; the script ends with its status.
set -eo pipefail
python=${!#}
for ((step = 0; step < 20; step++)); do
	sleep 0.1
	((step % 5)) || echo "step $step shards $step"
done
"$python" - <<'P' | tee counts.txt
import json
for row in ['{"id": 1, "text": "a"}', '{"id": 2, "text": "b"', '{"id": 3}']:
    print(json.loads(row)["id"])
P
echo "counted"
