#!/bin/bash
# A report that prints as it goes: what this machine does, a line at a time. Follow it live with
#   rota submit --follow -- examples/report.sh
set -eu
steps=${ROTA_PARAM_STEPS:-5}
echo "report of $(hostname), run ${ROTA_RUN_ID:-by hand}, attempt ${ROTA_ATTEMPT:-0}"
for ((step = 1; step <= steps; step++)); do
  read -r load _ </proc/loadavg
  free_kb=$(awk '/MemAvailable/ {print $2}' /proc/meminfo)
  printf '%s  step %d of %d: load %s, %d MB of memory free\n' \
    "$(date +%T.%3N)" "$step" "$steps" "$load" $((free_kb / 1024))
  sleep 0.2
done
echo "done"
