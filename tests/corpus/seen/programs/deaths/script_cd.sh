# cd to a folder that is not there
set -e
echo start
cd /mnt/datasets/not-there
