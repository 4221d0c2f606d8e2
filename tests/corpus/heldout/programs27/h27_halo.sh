# Builds h27_halo.c with MPI's compiler and runs three ranks of it.
mpicc -O1 -g -o halo "$(dirname "$0")/h27_halo.c" || exit 1
exec mpiexec -n 3 ./halo $1
