# shellcheck shell=bash
# The second try: a test program of integration or e2e that failed runs once more, alone, after all others.
# If it passes then, the run goes on, and its last lines name it with its first failure. `scripts` is the
# folder of the scripts; totals are in `total_passed` and `total_failed`.

awaiting_second_try=()  # FOLDER<TAB>NAME<TAB>PASSED<TAB>FAILED<TAB>FIRST LINE
second_tries=()         # the programs for the last lines

# await_second_try FOLDER LOG: remembers each program that failed in this log of ctest.
await_second_try() {
  local failure
  while IFS= read -r failure; do
    awaiting_second_try+=("$1"$'\t'"$failure")
  done < <(/usr/bin/python3 "$scripts/lib/count_cases.py" --failed "$2")
}

# try_again FOLDER NAME PASSED FAILED FIRST: runs it alone. When it passes, its first counts are replaced.
try_again() {
  local log=$1/Testing/Temporary/LastTest.log passed failed status=0
  step "second try: $2"
  ctest --test-dir "$1" -R "^$2\$" --output-on-failure --no-tests=error \
    --test-output-size-passed 50000000 --test-output-size-failed 50000000 >&2 || status=$?
  read -r passed failed < <(/usr/bin/python3 "$scripts/lib/count_cases.py" "$log")
  mkdir -p "$root/build/logs"
  cp -f "$log" "$root/build/logs/second-try-$2.log" 2>/dev/null || true
  if ((status || failed || passed == 0)); then
    complain "$2 failed again"
    return 0
  fi
  total_passed=$((total_passed - $3 + passed)) total_failed=$((total_failed - $4))
  second_tries+=("second try: $2: $5")
}

run_second_tries() {
  local failure folder name passed failed first
  for failure in ${awaiting_second_try[@]+"${awaiting_second_try[@]}"}; do
    IFS=$'\t' read -r folder name passed failed first <<<"$failure"
    try_again "$folder" "$name" "$passed" "$failed" "$first"
  done
  awaiting_second_try=()
}

# tell_second_tries: prints a line for each program that passed only then.
tell_second_tries() {
  if ((${#second_tries[@]})); then printf '%s\n' "${second_tries[@]}"; fi
}
