#!/bin/bash
# The watchdog, with stand-ins for the programs that it starts.
# usage: watchdog_test.sh [test_function...]
# shellcheck disable=SC2016,SC2034  # the programs under test expand these
# shellcheck source=test/e2e/shell/shell_test.sh
. "$(dirname "${BASH_SOURCE[0]}")/shell_test.sh"

# watch OPTIONS... -- COMMAND: a watchdog named x with the state folder $tmp/state.
watch() {
  "$root/scripts/watchdog" --name x --dir "$tmp/state" "$@" 2>>"$tmp/stderr" &
  watchdog=$!
}

after_each() { signal_recorded "$tmp/state/x.pid" KILL; }

has_program() { is_recorded_alive "$tmp/state/x.pid" && [[ $known_pid != "${not_pid:-}" ]]; }

# await_program: waits until there is one (other than $not_pid); puts its pid into $program.
await_program() {
  eventually "a program runs" has_program
  program=$known_pid
}

# has_starts COUNT: that many starts are logged, each after its program is recorded.
has_starts() { [[ $(grep -c "started pid=" "$tmp/state/x.watchdog.log") == "$1" ]]; }

# status_of PID: how that child ended, into $status.
status_of() { status=0; wait "$1" || status=$?; }

test_restarts_at_once() {
  says "watchdog: starts a killed program again in 10 ms, on a busy machine 100"
  local i took=() bare=() now_ms killed_ms
  watch --settled-ms 1 -- sleep 1000
  for i in 1 2 3 4 5 6 7 8 9; do
    await_program
    nap 0.05
    not_pid=$program
    read_clock
    killed_ms=$now_ms
    kill -KILL "$program"
    while ! has_program; do nap 0.001; done
    read_clock
    took+=($((now_ms - killed_ms)))
    killed_ms=$now_ms
    "$BASH" -c 'exec true'
    read_clock
    bare+=($((now_ms - killed_ms)))
  done
  mapfile -t took < <(printf '%s\n' "${took[@]}" | sort -n)
  mapfile -t bare < <(printf '%s\n' "${bare[@]}" | sort -n)
  echo "figure  watchdog restart_median_ms=${took[4]} restart_worst_ms=${took[8]} samples=9"
  # On a slow machine: in addition to the time that it takes to start any program there.
  expect "the median is below 100 ms" test "${took[4]}" -lt $((100 + 5 * bare[4]))
}

test_delays_grow() {
  says "watchdog: waits longer after each quick death"
  watch --crashes 5 -- false
  status_of "$watchdog"
  expect "it gave up" test "$status" = 75
  for delay in 100 200 500; do
    expect "a delay of $delay ms" has_line "$tmp/state/x.watchdog.log" "starting again in $delay ms"
  done
}

test_stops_between_two_programs() {
  says "watchdog: ends at a signal that comes while it waits to start the program again"
  watch -- false
  eventually "it waits for long" has_line "$tmp/state/x.watchdog.log" "starting again in 5000 ms"
  kill -TERM "$watchdog"
  status_of "$watchdog"
  expect "as asked" has_line "$tmp/state/x.watchdog.log" "ended: stopped as asked"
}

test_gives_up() {
  says "watchdog: gives up loudly after too many crashes"
  watch --crashes 3 --within-s 60 -- bash -c 'echo run >>"$0"; exit 7' "$tmp/runs"
  status_of "$watchdog"
  expect "exit 75" test "$status" = 75
  expect "three runs" test "$(lines_in "$tmp/runs")" = 3
  expect "a line in the log" has_line "$tmp/state/x.watchdog.log" "GIVING UP after 3 crashes"
  expect "a line on stderr" has_line "$tmp/stderr" "GIVING UP after 3 crashes"
}

test_done_and_misconfigured() {
  says "watchdog: ends with a program that is done or wrongly configured"
  for code in 0 2; do
    watch -- bash -c "echo run >>$tmp/runs$code; exit $code"
    status_of "$watchdog"
    expect "exit $code" test "$status" = "$code"
    expect "one run" test "$(lines_in "$tmp/runs$code")" = 1
  done
}

# A program that records its signals; TERM makes it end with 9, a little later.
cat_signals='
  trap "echo HUP >>$0" HUP; trap "echo USR1 >>$0" USR1; trap "echo INT >>$0" INT
  trap "sleep 0.2; echo TERM >>$0; exit 9" TERM
  echo ready >>$0
  while :; do read -t 0.02 <> <(:) || true; done'

test_forwards_signals() {
  says "watchdog: passes signals on, and ends with the program's status after TERM"
  watch -- bash -c "$cat_signals" "$tmp/signals"
  eventually "it is ready" has_line "$tmp/signals" ready
  for signal in HUP USR1; do
    kill "-$signal" "$watchdog"
    eventually "$signal arrives" has_line "$tmp/signals" "$signal"
  done
  kill -TERM "$watchdog"
  status_of "$watchdog"
  expect "the program's status" test "$status" = 9
  expect "it waited for the program" has_line "$tmp/signals" TERM
  expect "no restart" test "$(grep -c ready "$tmp/signals")" = 1
}

test_interrupt_reaches_program() {
  says "watchdog: a program starts with INT at its default"
  watch -- sleep 1000
  await_program
  eventually "it is what was asked for, no shell on its way to it" has_name "$program" sleep
  not_pid=$program
  kill -INT "$program"
  await_program
  expect "it died of INT" has_line "$tmp/state/x.watchdog.log" "signal INT"
}

test_lock() {
  says "watchdog: refuses to run beside another one with the same name"
  watch -- sleep 1000
  await_program
  "$root/scripts/watchdog" --name x --dir "$tmp/state" -- touch "$tmp/second" 2>/dev/null
  expect "exit 4" test $? = 4
  expect "nothing was started" test ! -e "$tmp/second"
}

test_watches_on() {
  says "watchdog: takes over the living program of a killed watchdog, and starts no second"
  local first
  watch -- bash -c 'echo $$ >>'"$tmp/pids"'; exec sleep 1000'
  await_program
  first=$program
  kill -KILL "$watchdog"
  wait "$watchdog" 2>/dev/null
  watch -- bash -c 'echo $$ >>'"$tmp/pids"'; exec sleep 1000'
  eventually "it found the program" has_line "$tmp/state/x.watchdog.log" "alive, watching on"
  eventually "one program" has_lines "$tmp/pids" 1
  not_pid=$first
  kill -KILL "$first"
  await_program
  eventually "restarted after its death" has_lines "$tmp/pids" 2
}

test_signals_to_a_program_taken_over() {
  says "watchdog: passes signals on to a program that it has taken over, and ends with it"
  watch -- bash -c "$cat_signals" "$tmp/signals"
  eventually "it is ready, and so written down" has_line "$tmp/signals" ready
  kill -KILL "$watchdog"
  wait "$watchdog" 2>/dev/null
  watch -- bash -c "$cat_signals" "$tmp/signals"
  eventually "it found the program" has_line "$tmp/state/x.watchdog.log" "alive, watching on"
  nap 0.1  # it looks again and again by now
  for signal in HUP TERM; do
    kill "-$signal" "$watchdog"
    eventually "$signal arrives" has_line "$tmp/signals" "$signal"
  done
  eventually "it ends" has_ended "$watchdog"
  expect "no restart" test "$(grep -c ready "$tmp/signals")" = 1
}

test_clears_up_unseen_death() {
  says "watchdog: cleans up after a program that died unwatched before it starts another"
  local program_text="echo start >>$tmp/order; exec sleep 1000"
  watch --after-death "echo cleared >>$tmp/order" -- bash -c "$program_text"
  await_program
  eventually "it started" has_line "$tmp/order" start
  kill -KILL "$watchdog" "$program"
  wait "$watchdog" 2>/dev/null
  eventually "it is dead" has_ended "$program"
  not_pid=$program
  watch --after-death "echo cleared >>$tmp/order" -- bash -c "$program_text"
  await_program
  eventually "all lines" has_lines "$tmp/order" 3
  expect "in this order" test "$(paste -sd, "$tmp/order")" = start,cleared,start
}

test_stranger_is_safe() {
  says "watchdog: recognises a foreign process with a recorded pid"
  sleep 1000 &
  local stranger=$!
  mkdir -p "$tmp/state"
  echo "$stranger 1" >"$tmp/state/x.pid"
  watch -- sleep 1000
  not_pid=$stranger
  await_program
  kill -TERM "$watchdog"
  status_of "$watchdog"
  expect "the stranger lives" kill -0 "$stranger"
}

test_stop_file_and_signal() {
  says "watchdog: a stop file beside a signal does not signal the program twice"
  local program_text='trap "echo TERM >>$0" TERM; echo ready >>$0; while :; do sleep 0.05; done'
  watch --hang-ms 200 -- bash -c "$program_text" "$tmp/told"
  eventually "the program listens" has_line "$tmp/told" ready
  kill -TERM "$watchdog"
  touch "$tmp/state/x.stop"
  eventually "it was told" has_line "$tmp/told" TERM
  eventually "the watcher has seen the file" has_line "$tmp/state/x.watchdog.log" "the stop file is there"
  expect "told once" has_lines "$tmp/told" 2
  kill -TERM "$watchdog"
  eventually "a second signal is passed on" has_lines "$tmp/told" 3
}

test_stop_file() {
  says "watchdog: a stop file ends the program, and keeps it down"
  watch -- sleep 1000
  await_program
  touch "$tmp/state/x.stop"
  status_of "$watchdog"
  expect "ended by TERM" test "$status" = 143
  expect "the program is gone" has_ended "$program"
  watch -- sleep 1000
  status_of "$watchdog"
  expect "refused with 3" test "$status" = 3
}

# A program that beats for a second and then hangs is killed once, for the hang.
expect_a_hang_noticed() {
  watch --heartbeat "$tmp/heart" --hang-ms 400 --settled-ms 1 -- bash -c \
    'for i in 1 2 3 4 5 6 7 8 9 10; do touch "$0"; sleep 0.1; done; exec sleep 1000' "$tmp/heart"
  await_program
  not_pid=$program
  await_program
  expect "for the hang" has_line "$tmp/state/x.watchdog.log" "no heartbeat for"
  eventually "not while it touched the file" has_starts 2
}

test_hang() {
  says "watchdog: kills a program whose heartbeat stands still, and no other"
  expect_a_hang_noticed
}

test_hang_without_a_file_of_its_own() {
  says "watchdog: notices a hang, and a beat, also when it cannot write its own file"
  mkdir -p "$tmp/state/x.seen"
  expect_a_hang_noticed
}

test_hang_with_nobody_to_tell() {
  says "watchdog: kills a program that hangs also when its errors go to a full disk"
  "$root/scripts/watchdog" --name x --dir "$tmp/state" --heartbeat "$tmp/heart" --hang-ms 200 \
    --settled-ms 1 -- sleep 1000 2>/dev/full &
  watchdog=$!
  await_program
  not_pid=$program
  await_program
  expect "for the hang" has_line "$tmp/state/x.watchdog.log" "no heartbeat for"
}

test_record_keeps_its_room() {
  says "watchdog: records each program in the blocks of the previous record, so that it works on a full disk"
  local record=$tmp/state/x.pid before
  mkdir -p "$tmp/state"
  echo "$$ 1" >"$record"  # of this pid, but nobody who lives
  watch --settled-ms 1 -- sleep 1000
  not_pid=$$
  await_program
  before=$(stat -c '%i %s' "$record")
  not_pid=$program
  kill -KILL "$program"
  await_program
  expect "the same file, as long" test "$(stat -c '%i %s' "$record")" = "$before"
  kill -TERM "$watchdog"
  status_of "$watchdog"
  expect "at the end too" test "$(stat -c '%i %s' "$record")" = "$before"
  expect "and then it names nobody" test -z "$(tr -d ' \n' <"$record")"
}

test_held_watchdog_kills_nobody() {
  says "watchdog: a stopped watchdog neither restarts nor ends a hang"
  watch --heartbeat "$tmp/heart" --hang-ms 3000 -- sleep 1000
  await_program
  eventually "it is logged" has_line "$tmp/state/x.watchdog.log" started
  kill -STOP "$watchdog"
  eventually "it is held" has_state "$watchdog" T
  nap 3.5
  expect "the program lives" is_recorded_alive "$tmp/state/x.pid"
  kill -KILL "$program"
  nap 0.2
  not_pid=$program
  expect "no restart while held" test "$(grep -c started "$tmp/state/x.watchdog.log")" = 1
  kill -CONT "$watchdog"
  await_program
}

test_kinds() {
  says "watchdog: ends a dead master's session and sweeps after a dead worker before the restart"
  cat >"$tmp/program" <<'PROGRAM'
#!/bin/bash
echo "$*" >>"$(dirname "$0")/calls"
case $1 in --end-session) exit 0 ;; --sweep) exit 3 ;; esac
exec sleep 1000
PROGRAM
  chmod +x "$tmp/program"
  for kind in master worker; do
    rm -rf "$tmp/calls" "$tmp/state"
    not_pid=''
    watch --kind $kind -- "$tmp/program" --config c
    await_program
    eventually "it was called" has_line "$tmp/calls" config
    not_pid=$program
    kill -KILL "$program"
    await_program
    eventually "it was called again" has_lines "$tmp/calls" 3
    kill -TERM "$watchdog"
    wait "$watchdog"
  done
  expect "swept before the restart, and after the end" test "$(paste -sd, "$tmp/calls")" = \
    "--config c,--sweep --state-dir $tmp/state,--config c,--sweep --state-dir $tmp/state"
}

test_descriptors() {
  says "watchdog: a program inherits only the descriptors of its input, output and errors"
  watch --output "$tmp/out" -- bash -c 'echo /proc/self/fd/*; exec sleep 1000'
  eventually "it printed" has_line "$tmp/out" fd
  expect "0, 1, 2 and the glob's own" test "$(wc -w <"$tmp/out")" -le 4
  await_program
  expect "no lock" test "$(find "/proc/$program/fd" -lname '*x.lock' | wc -l)" = 0
}

test_wrong_arguments() {
  says "watchdog: wrong arguments are refused with 2"
  local bad
  for bad in "--name" "--name x --dir $tmp" "--name ../x --dir $tmp -- true" \
    "--name x --dir $tmp --hang-ms 0 -- true" "--name x --dir $tmp --kind lord -- true" "--colour"; do
    # shellcheck disable=SC2086
    "$root/scripts/watchdog" $bad 2>/dev/null
    expect "'$bad' is refused" test $? = 2
  done
}

run_all "$@"
