#!/bin/bash
# scripts/cluster with only the servers: no program of Rota is needed.
# usage: cluster_servers_test.sh [test_function...]
# shellcheck source=test/e2e/shell/shell_test.sh
. "$(dirname "${BASH_SOURCE[0]}")/shell_test.sh"

cluster() { "$root/scripts/cluster" --dir "$tmp/c" "$@" 2>>"$tmp/stderr"; }

# Ends whatever a test has started, also one that failed halfway.
after_each() {
  local folder
  for folder in "$tmp"/*/; do "$root/scripts/cluster" --dir "${folder%/}" down 2>>"$tmp/stderr"; done
}

# processes_of_folder: how many processes have the folder's mark.
processes_of_folder() {
  grep -lzxF "PRIVATE_CLUSTER_FOLDER=$tmp/c" /proc/[0-9]*/environ 2>/dev/null | wc -l
}
has_processes() { test "$(processes_of_folder)" = "$1"; }

database_answers() {
  (
    eval "$(cluster env)"
    MYSQL_PWD=$(<"$ROTA_DATABASE_PASSWORD_FILE") mariadb --no-defaults -u "$ROTA_DATABASE_USER" \
      -h "$ROTA_DATABASE_HOST" -P "$ROTA_DATABASE_PORT" -e "${1:-SELECT 1}" "$ROTA_DATABASE_NAME"
  )
}

test_up_and_down() {
  says "cluster: servers come up, answer, and leave nothing behind"
  local now_ms began
  read_clock
  began=$now_ms
  expect "up" cluster up --masters 0 --workers 0
  read_clock
  echo "figure  cluster servers_up_ms=$((now_ms - began))"
  expect "the database answers the user" database_answers
  expect "its temporary tables are nobody else's" \
    test "$(database_answers "SELECT @@tmpdir" | tail -n 1)" = "$tmp/c/mariadb/tmp"
  eventually "two processes" has_processes 2
  expect "the secret is private" test "$(stat -c %a "$tmp/c/secrets/db_password")" = 600
  expect "a second up is harmless" cluster up
  expect "and says so" has_line "$tmp/stderr" "is already up"
  cluster up --zookeepers 3 && fail "what was made with one ZooKeeper is not up with three"
  expect "and says so" has_line "$tmp/stderr" "was made with 1 zookeepers, not 3"
  eventually "still two processes" has_processes 2
  read_clock
  began=$now_ms
  expect "down" cluster down
  read_clock
  echo "figure  cluster servers_down_ms=$((now_ms - began))"
  eventually "no process" has_processes 0
  expect "no folder" test ! -e "$tmp/c"
  expect "a second down is harmless" cluster down
}

test_asking_nobody() {
  says "cluster: when no ZooKeeper listens, nothing is written to a descriptor of the caller"
  (
    . "$root/scripts/lib/zookeeper_server.sh"
    zk_ports=(1)
    is_zookeeper_serving 1 3>"$tmp/third" && exit 1
    test ! -s "$tmp/third"
  ) || fail "the caller's descriptor 3 got: $(<"$tmp/third")"
}

test_folder_with_a_space() {
  says "cluster: a folder with a space in its name is refused before anything is created"
  "$root/scripts/cluster" --dir "$tmp/a b" up --masters 0 --workers 0 2>"$tmp/spaces" && fail "it must refuse"
  expect "it says why" has_line "$tmp/spaces" "no folder with a space"
  expect "nothing is made" test ! -e "$tmp/a b"
}

test_kill_and_start() {
  says "cluster: a killed server comes back with what it had acknowledged"
  expect "up" cluster up --masters 0 --workers 0
  expect "a row" database_answers "CREATE TABLE t (a INT); INSERT INTO t VALUES (7)"
  cluster kill mariadb >"$tmp/killed"
  expect "it says who and when" has_line "$tmp/killed" "^signal=KILL target=mariadb pids=[0-9]* at_ms="
  cluster kill zookeeper >/dev/null
  cluster status >"$tmp/status" && fail "status is red while servers are down"
  expect "status shows it" has_line "$tmp/status" "mariadb .*stopped"
  expect "start" cluster start mariadb
  expect "start" cluster start zookeeper
  expect "the row is there" test "$(database_answers "SELECT a FROM t" | tail -n 1)" = 7
  expect "status" cluster status
}

shows_held() { test "$(cluster status | grep -c held)" = "$1"; }

test_ensemble() {
  says "cluster: three ZooKeepers elect a leader, and survive the loss of one"
  expect "up" cluster up --masters 0 --workers 0 --zookeepers 3
  expect "three addresses" test "$(cluster env | grep '^export ROTA_ZOOKEEPER=' | tr , '\n' | wc -l)" = 3
  cluster kill zookeeper-2 -STOP >/dev/null
  eventually "held" shows_held 1
  expect "let go" cluster kill zookeeper-2 -CONT
  cluster kill zookeeper-3 >/dev/null
  expect "it comes back" cluster start zookeeper-3
}

test_foreign_folder() {
  says "cluster: a foreign folder is not touched"
  mkdir "$tmp/c"
  echo precious >"$tmp/c/file"
  cluster up --masters 0 --workers 0 && fail "up must refuse"
  cluster down && fail "down must refuse"
  expect "the file is there" has_line "$tmp/c/file" precious
  rm -r "$tmp/c"
}

test_two_side_by_side() {
  says "cluster: down of one cluster does not touch the processes of another"
  expect "up" cluster up --masters 0 --workers 0
  expect "another" "$root/scripts/cluster" --dir "$tmp/d" up --masters 0 --workers 0
  expect "down" "$root/scripts/cluster" --dir "$tmp/d" down
  expect "the first runs" cluster status
}

test_long_folder() {
  says "cluster: a folder with a long name gets a short socket, and loses it at down"
  local long db_socket=
  long=$tmp/$(printf 'a%.0s' {1..90})
  expect "up" "$root/scripts/cluster" --dir "$long" up --masters 0 --workers 0
  eval "$(grep '^db_socket=' "$long/cluster.state")"
  expect "a short socket" test -S "$db_socket" -a "${#db_socket}" -lt 100
  expect "down" "$root/scripts/cluster" --dir "$long" down
  expect "no socket is left" test ! -e "${db_socket%/*}"
}

test_wrong_arguments() {
  says "cluster: wrong arguments are refused with 2"
  local bad
  for bad in "" "up --masters two" "up --zookeepers 2" "up --set master" "fly" "up --colour red"; do
    # shellcheck disable=SC2086
    cluster $bad
    expect "'$bad' is refused" test $? = 2
  done
}

run_all "$@"
