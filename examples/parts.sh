#!/bin/bash
# Works through many parts, a second or less each, and goes on where it was after a failure or a kill:
# the last part that is done is its checkpoint. Parameters: parts (20), seconds (0.2) for each, ledger (a
# file that gets a line for each part; empty: none).
#   rota submit -- examples/parts.sh
set -euo pipefail
parts=${ROTA_PARAM_PARTS:-20}
exec {rota}>&"${ROTA_FD:-1}"
done_before=${ROTA_CHECKPOINT:-0}
echo "attempt ${ROTA_ATTEMPT:-1}: parts $((done_before + 1)) to $parts"
for ((part = done_before + 1; part <= parts; part++)); do
  sleep "${ROTA_PARAM_SECONDS:-0.2}"
  if [[ -n ${ROTA_PARAM_LEDGER:-} ]]; then
    echo "${ROTA_ATTEMPT:-1} $part" >>"$ROTA_PARAM_LEDGER"
  fi
  echo "checkpoint $part" >&"$rota"
  echo "progress $((100 * part / parts)) part $part of $parts" >&"$rota"
done
echo "result $parts parts" >&"$rota"
