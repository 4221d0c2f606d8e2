# A script trains and converts its model then by a tool that is not installed here.
set -e
for step in 0 5 10 15 20; do
	sleep 0.5
	echo "step $step loss 0.$((900 - step))"
done
convert-to-onnx-runtime --model model.bin --out model.onnx
echo "converted"
