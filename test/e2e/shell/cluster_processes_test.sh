#!/bin/bash
# scripts/cluster with stand-ins for Rota's programs: who is started, found, signalled and ended.
# usage: cluster_processes_test.sh [test_function...]
# shellcheck disable=SC2016  # the stand-ins expand these
# shellcheck source=test/e2e/shell/shell_test.sh
. "$(dirname "${BASH_SOURCE[0]}")/shell_test.sh"

cluster() { ROTA_BIN_DIR=$tmp/bin "$root/scripts/cluster" --dir "$tmp/c" "$@" 2>>"$tmp/stderr"; }

after_each() { cluster down; }

# stand_in NAME: a program of that name; its text comes from stdin.
stand_in() {
  mkdir -p "$tmp/bin"
  { echo '#!/bin/bash'; cat; } >"$tmp/bin/$1"
  chmod +x "$tmp/bin/$1"
}

# The same structure as the real ones: rota-worker becomes the outer warden, which starts the inner one,
# which starts the proper and a job.
make_stand_ins() {
  stand_in rota <<'END'
echo '{"leader": "127.0.0.1:7", "masters": [{"id": "master-1", "leads": false},
  {"id": "master-2", "leads": true}], "workers": [{"id": "worker-1", "state": "online"}]}'
END
  stand_in rota-master <<'END'
if [[ $1 != --config ]]; then exit 0; fi
exec sleep 1000
END
  stand_in rota-worker <<'END'
case $1 in
  --config) exec "${0%/*}/rota-warden" outer ;;
  --proper) while :; do read -t 1 <> <(:); done ;;
esac
END
  stand_in rota-warden <<'END'
trap 'kill $(jobs -p); exit 0' TERM
if [[ $1 == outer ]]; then "$0" inner & else "${0%/*}/rota-worker" --proper & sleep 1000 & fi
wait -n
END
}

# The stand-ins have no heartbeat, and must not count as hanging.
up() {
  make_stand_ins
  expect "up" cluster up --masters 2 --workers 1 --set master.hang_limit_ms=3600000 \
    --set worker.hang_limit_ms=3600000 "$@"
  eventually "the worker is complete" has_parts 5
  eventually "and its proper alone" has_pids worker-1.proper 1
}

# parts: the processes of worker-1 below its watchdog.
parts() { cluster kill worker-1.host -0 | sed 's/.*pids=\([^ ]*\).*/\1/' | tr , '\n' | sed 1d; }
has_parts() { test "$(parts | wc -l)" -ge "$1"; }

has_pids() { test "$(pids_of "$1" | tr , '\n' | grep -c .)" = "$2"; }

pids_of() { cluster kill "$1" -0 | sed 's/.*pids=\([^ ]*\).*/\1/'; }

has_new_pid() {
  local now
  now=$(pids_of "$1")
  [[ -n $now && $now != "$2" ]]
}

# expect_gone PIDS
expect_gone() {
  local pid
  for pid in $1; do eventually "$pid is gone" has_ended "$pid"; done
}

processes_of_folder() {
  grep -lzxF "PRIVATE_CLUSTER_FOLDER=$tmp/c" /proc/[0-9]*/environ 2>/dev/null | wc -l
}
has_processes() { test "$(processes_of_folder)" = "$1"; }

test_up_and_down() {
  says "cluster: every Rota process runs under a watchdog, and down leaves none"
  local family name now_ms began
  up
  cluster status >"$tmp/status"
  for name in zookeeper-1 mariadb master-1 master-2 worker-1 master-1.watchdog worker-1.watchdog; do
    expect "$name runs" has_line "$tmp/status" "^$name  *[0-9]* *running"
  done
  family=$(parts)
  read_clock
  began=$now_ms
  expect "down" cluster down
  read_clock
  echo "figure  cluster down_ms=$((now_ms - began))"
  expect_gone "$family"
  eventually "no process" has_processes 0
  expect "no folder" test ! -e "$tmp/c"
}

test_kill_restarts() {
  says "cluster: a killed master is started again, the leader is found by its name"
  local before
  up
  before=$(pids_of master-2)
  cluster kill leader >"$tmp/killed"
  expect "the leader" has_line "$tmp/killed" "signal=KILL target=master-2 pids=$before at_ms="
  eventually "another master-2" has_new_pid master-2 "$before"
}

test_worker_parts() {
  says "cluster: the parts of a worker are distinguished"
  up
  expect "one proper" test "$(pids_of worker-1.proper | tr , '\n' | wc -l)" = 1
  expect "it is rota-worker" test "$(cat "/proc/$(pids_of worker-1.proper)/comm")" = rota-worker
  expect "two wardens" test "$(pids_of worker-1.warden | tr , '\n' | wc -l)" = 2
  expect "warden and proper" test "$(pids_of worker-1 | tr , '\n' | wc -l)" = 3
  expect "the host is more" test "$(pids_of worker-1.host | tr , '\n' | wc -l)" -ge 5
  expect "a watchdog" has_line "/proc/$(pids_of worker-1.watchdog)/cmdline" watchdog
}

test_host() {
  says "cluster: a dead host is not restarted, until it is started again"
  local family
  up
  family=$(parts)
  cluster kill worker-1.host >/dev/null
  expect_gone "$family"
  cluster status >"$tmp/status" && fail "status is red"
  expect "it is down" has_line "$tmp/status" "^worker-1 .*stopped"
  expect "start" cluster start worker-1
  eventually "it is back" has_parts 3
}

test_hold() {
  says "cluster: STOP also stops the watchdog, except with --no-hold"
  local watchdog
  up
  watchdog=$(pids_of master-1.watchdog)
  cluster kill master-1 -STOP >/dev/null
  eventually "held" has_state "$watchdog" T
  cluster kill master-1 -CONT >/dev/null
  eventually "let go" has_other_state "$watchdog" T
  cluster kill master-1 -STOP --no-hold >/dev/null
  eventually "the master is held" has_state "$(pids_of master-1)" T
  expect "its watchdog is not" has_other_state "$watchdog" T
}

test_stop() {
  says "cluster: a stopped process stays down, and up brings it back"
  local before
  up
  before=$(pids_of master-1)
  expect "stop" cluster stop master-1
  expect_gone "$before"
  expect "up repairs" cluster up
  expect "status" cluster status
}

test_orphans() {
  says "cluster: down finds processes that lost their parents"
  local family
  up
  family=$(parts)
  cluster kill worker-1.watchdog >/dev/null
  cluster kill worker-1.warden >/dev/null
  expect "down" cluster down
  expect_gone "$family"
}

test_settings() {
  says "cluster: settings override the generated configuration"
  up --session-ms 3000 --set master.store_give_up_ms=2500 --set worker-1.output.cap_bytes=1000 \
    --set worker.slots=7
  expect "master" has_line "$tmp/c/master-1.yaml" "^store_give_up_ms: 2500$"
  expect "session" has_line "$tmp/c/master-2.yaml" "^  session_timeout_ms: 3000$"
  expect "worker, nested" has_line "$tmp/c/worker-1.yaml" "^  cap_bytes: 1000$"
  expect "slots" has_line "$tmp/c/worker-1.yaml" "^slots: 7$"
  expect "no master's key in a worker" test "$(grep -c store_give_up "$tmp/c/worker-1.yaml")" = 0
}

run_all "$@"
