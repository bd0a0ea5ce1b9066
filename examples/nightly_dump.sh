#!/bin/bash
# Dumps Rota's own database, compressed, and keeps the newest dumps. It reads:
#   ROTA_DATABASE_HOST, ROTA_DATABASE_PORT, ROTA_DATABASE_USER, ROTA_DATABASE_NAME
#   ROTA_DATABASE_PASSWORD_FILE   a file that only its owner may read
#   ROTA_PARAM_FOLDER             where the dumps go; ROTA_PARAM_KEEP how many stay (7)
# A dump is complete or absent: it is written beside its place and renamed.
set -euo pipefail
folder=${ROTA_PARAM_FOLDER:?give the folder of the dumps as parameter "folder"}
keep=${ROTA_PARAM_KEEP:-7}
name=${ROTA_DATABASE_NAME:-rota}
mkdir -p "$folder"
target=$folder/$name-$(date -u +%Y%m%dT%H%M%S)-${ROTA_RUN_ID:-0}.sql.gz

options=$(mktemp)
trap 'rm -f "$options" "$target.part"' EXIT
chmod 600 "$options"
{
  echo "[client]"
  echo "host=${ROTA_DATABASE_HOST:-127.0.0.1}"
  echo "port=${ROTA_DATABASE_PORT:-3306}"
  echo "user=${ROTA_DATABASE_USER:-rota}"
  if [[ -n ${ROTA_DATABASE_PASSWORD_FILE:-} ]]; then
    echo "password=$(<"$ROTA_DATABASE_PASSWORD_FILE")"
  fi
} >"$options"

dump=$(command -v mariadb-dump || command -v mysqldump) || { echo "no mariadb-dump here" >&2; exit 3; }
# One snapshot without locks, so that the scheduler is not disturbed.
"$dump" --defaults-extra-file="$options" --single-transaction --quick --skip-lock-tables "$name" |
  gzip -6 >"$target.part"
gzip --test "$target.part"
mv "$target.part" "$target"
echo "wrote $target ($(stat -c %s "$target") bytes)"

mapfile -t dumps < <(find "$folder" -maxdepth 1 -name "$name-*.sql.gz" -printf '%f\n' | sort -r)
for old in "${dumps[@]:keep}"; do
  rm -f "$folder/$old"
  echo "removed $old"
done
