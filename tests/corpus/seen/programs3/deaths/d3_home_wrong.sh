echo "activating"
sleep 0.3
PYTHONHOME=/opt/nowhere "$1" -c 'print(1)'
