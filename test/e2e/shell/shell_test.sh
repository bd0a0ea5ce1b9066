# shellcheck shell=bash
# A small frame for tests written in shell. A test is a function whose name begins with test_; its
# first call is `says "subject: behaviour"`. It runs in a shell of its own with an empty folder
# $tmp; `expect` and `eventually` fail it; a function `after_each` cleans up. run_all runs them all
# and ends with the plain summary.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
# shellcheck source=scripts/lib/terminal.sh
. "$root/scripts/lib/terminal.sh"
# shellcheck source=scripts/lib/process_identity.sh
. "$root/scripts/lib/process_identity.sh"

says() { printf '%s\n' "$1" >"$tmp/.says"; }

fail() { echo "  FAILED: $*"; exit 1; }

# expect WHAT COMMAND...: COMMAND must succeed.
expect() {
  local what=$1
  shift
  "$@" || fail "$what (was: $*)"
}

# Not a promise: only a test that hangs reaches it.
readonly patience_s=120

# eventually WHAT COMMAND...: COMMAND must succeed.
eventually() {
  local what=$1
  shift
  await "$patience_s" "$@" || fail "$what, not within $patience_s s (was: $*)"
}

has_line() { grep -q -- "$2" "$1" 2>/dev/null; }

has_lines() { [[ $(lines_in "$1") == "$2" ]]; }

lines_in() { { wc -l <"$1"; } 2>/dev/null || echo 0; }

# has_ended PID: it is dead, even if nobody has collected its status yet.
has_ended() { ! read_stat "$1" || [[ $stat_state == Z ]]; }

# has_state PID STATE: e.g. T; on a busy machine a stop signal takes a while.
has_state() { read_stat "$1" && [[ $stat_state == "$2" ]]; }
has_other_state() { read_stat "$1" && [[ $stat_state != "$2" ]]; }

# has_name PID NAME: it runs that program now.
has_name() { [[ $(cat "/proc/$1/comm" 2>/dev/null) == "$2" ]]; }

# Ends what a test left behind: only children that this test's own shell started.
end_jobs() {
  local pid
  for pid in $(jobs -p); do kill -CONT "$pid" 2>/dev/null; kill -KILL "$pid" 2>/dev/null; done
  wait 2>/dev/null
  if declare -F after_each >/dev/null; then after_each; fi
}

run_one() {
  local status=0
  tmp=$(realpath "$(mktemp -d)")
  (
    set -u
    trap end_jobs EXIT
    "$1"
  ) >"$tmp/.output" 2>&1 || status=$?
  if ((status == 0)); then
    passed=$((passed + 1))
    echo "ok      $(cat "$tmp/.says" 2>/dev/null || echo "$1")"
    grep '^figure' "$tmp/.output" || true
  else
    failed=$((failed + 1))
    echo "FAILED  $(cat "$tmp/.says" 2>/dev/null || echo "$1")"
    sed 's/^/        /' "$tmp/.output"
    if [[ -s $tmp/stderr ]]; then sed 's/^/        stderr: /' "$tmp/stderr"; fi
  fi
  rm -rf "$tmp"
}

run_all() {
  local name
  passed=0 failed=0
  for name in $(compgen -A function test_); do
    if (($# == 0)) || [[ " $* " == *" $name "* ]]; then run_one "$name"; fi
  done
  echo "$passed passed, $failed failed"
  ((failed == 0 && passed > 0))
}
