# shellcheck shell=bash
# A private primary (mariadb-1) and its replica (mariadb-2), for `up --databases 2`. Both start read-only:
# only the operator's word makes one of them the primary, so a primary that comes back after its replica was
# promoted is never written to. `up` says that word once, for a new cluster.

is_replicated() { ((databases == 2)); }

choose_replica_ports() {
  pick_ports db_ports 2
  db_folder=$dir/databases
  db_port=${db_ports[0]} db_socket=$db_folder/1.sock
  ((${#db_socket} < 100)) || refuse "$db_socket: the path is too long for a socket" "choose a shorter --dir"
}

# start_replica_server N
start_replica_server() {
  local n=$1 folder=$db_folder/$1
  rm -f "$db_folder/$n.sock"
  start_detached "mariadb-$n" mariadbd --no-defaults --user="$(id -un)" \
    --datadir="$folder/data" --tmpdir="$folder/tmp" --socket="$db_folder/$n.sock" \
    --pid-file="$folder/mariadb.pid" --bind-address=127.0.0.1 --port="${db_ports[n - 1]}" \
    --skip-name-resolve --innodb-flush-log-at-trx-commit=1 --performance-schema=OFF \
    --max-connections=500 --max-allowed-packet=64M --read-only=ON \
    --server-id="$n" --log-bin="$folder/binlog" --binlog-format=ROW --sync-binlog=1 --log-slave-updates
}

is_replica_server_serving() { ask_node "$1" 'SELECT 1' >/dev/null 2>&1; }

install_replica_server() {
  mkdir -p "$db_folder/$1/tmp"
  mariadb-install-db --no-defaults --force --skip-name-resolve --user="$(id -un)" \
    --datadir="$db_folder/$1/data" --tmpdir="$db_folder/$1/tmp" \
    --auth-root-authentication-method=normal --skip-test-db >"$dir/logs/mariadb-install.log" 2>&1 ||
    { show_log_end mariadb-install 60; refuse "mariadb-install-db failed" "see the lines above"; }
}

start_replicated() {
  local n is_new=''
  if [[ ! -e $dir/secrets/db_password ]]; then
    install_replica_server 1
    install_replica_server 2
    make_db_password
    is_new=yes
  fi
  for n in 1 2; do
    if ! is_running "mariadb-$n"; then start_replica_server "$n"; fi
    await 120 is_replica_server_serving "$n" || give_up_on "mariadb-$n" "does not answer"
  done
  if [[ -z $is_new ]]; then return; fi
  ask_node 2 "CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = ${db_ports[0]},
    MASTER_USER = 'replica', MASTER_PASSWORD = '$(<"$dir/secrets/db_password")', MASTER_USE_GTID = slave_pos,
    MASTER_CONNECT_RETRY = 1;"
  ask_node 1 "SET GLOBAL read_only = 0;
    CREATE USER replica@'127.0.0.1' IDENTIFIED BY '$(<"$dir/secrets/db_password")';
    GRANT REPLICATION SLAVE ON *.* TO replica@'127.0.0.1';"
  ask_node 2 'START SLAVE'
}
