#!/bin/sh
# A run of cts-subset as a Slurm array, a shard a task:
#   sbatch --array=1-8 cts-subset/cluster/slurm.sh /shared/deqp-vk /shared/shards
# and when it has ended:
#   cts-subset merge /shared/shards/*.json --junit all.xml
#SBATCH --job-name=cts-subset
#SBATCH --cpus-per-task=8
#SBATCH --output=cts-subset-%A-%a.log
set -eu
deqp=$1
shards=$2
shift 2 # The rest (--category, --list, --icd, --costs …) is the same for all tasks.
mkdir -p "$shards"
# A task that finds something bad has run all the same: merge judges.
code=0
"${CTS_SUBSET:-cts-subset}" --deqp-vk "$deqp" --shard slurm --jobs "${SLURM_CPUS_PER_TASK:-1}" \
    --json "$shards/$SLURM_ARRAY_TASK_ID.json" "$@" || code=$?
[ "$code" -le 1 ]
