#!/bin/bash
# A sweep in parts: a Slurm job array runs them, and a job after it joins their files.
#
#   configs/cluster/slurm_array.sh SCENARIO.yaml RESULTS.sqlite [PARTS]      on the login node: submits both (32 parts)
#
# A task that was ended is simply submitted again (sbatch --array=7 configs/cluster/slurm_array.sh SCENARIO.yaml RESULTS.sqlite PARTS):
# it goes on where it was. TIDEMARK names the program where it is not on the path.
#SBATCH --job-name=tidemark
#SBATCH --cpus-per-task=4
#SBATCH --mem=2G
#SBATCH --time=02:00:00
#SBATCH --requeue
set -eu
scenario=$1
results=$2
parts=${3:-32}
tidemark=${TIDEMARK:-tidemark}

if [ -n "${SLURM_ARRAY_TASK_ID:-}" ]; then
  "$tidemark" sweep "$scenario" --shard "$SLURM_ARRAY_TASK_ID/$parts" --out "$results.$SLURM_ARRAY_TASK_ID-of-$parts" \
    --resume --threads "${SLURM_CPUS_PER_TASK:-1}" --limit 1
elif [ -n "${SLURM_JOB_ID:-}" ]; then
  files=()
  for part in $(seq "$parts"); do files+=("$results.$part-of-$parts"); done
  "$tidemark" results merge "$results" "${files[@]}"
  rm -f "${files[@]}"
else
  array=$(sbatch --parsable --array="1-$parts" "$0" "$scenario" "$results" "$parts")
  sbatch --dependency="afterok:${array%%;*}" --cpus-per-task=1 "$0" "$scenario" "$results" "$parts"
fi
