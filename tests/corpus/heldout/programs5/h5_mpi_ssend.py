"""Builds the solver with mpicc and starts it with three ranks."""
import os
import subprocess

source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mpi", "h5_mpi_ssend.c")
subprocess.run(["mpicc", "-O1", "-g", source, "-o", "solver"], check=True)
os.execvp("mpiexec", ["mpiexec", "-n", "3", "./solver"])
