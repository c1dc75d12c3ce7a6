#!/bin/bash
# A sweep by the ranks of one MPI job: cells go to whoever is free, those of a rank that dies to others.
#
#   sbatch --ntasks=64 configs/cluster/slurm_mpi.sh SCENARIO.yaml RESULTS.sqlite
#
# RESULTS.sqlite must lie where every node sees it. A job that was ended is submitted again: it goes on where it was.
# TIDEMARK names the program where it is not on the path.
#SBATCH --job-name=tidemark
#SBATCH --ntasks=64
#SBATCH --mem-per-cpu=1G
#SBATCH --time=02:00:00
#SBATCH --requeue
set -eu
mpirun --enable-recovery -n "$SLURM_NTASKS" "${TIDEMARK:-tidemark}" sweep "$1" --out "$2"
