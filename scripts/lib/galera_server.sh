# shellcheck shell=bash
# A private Galera cluster on loopback, for `up --databases 3`: mariadb-1 to mariadb-3, in place of one.
# rsync's daemon, by which a node gets a copy of another, can not serve root; so for root the nodes run as
# `nobody`, in a folder of their own below /tmp.

is_galera() { ((databases == 3)); }

list_databases() {
  local i
  if ((databases == 1)); then echo mariadb; return; fi
  for ((i = 1; i <= databases; i++)); do echo "mariadb-$i"; done
}

need_galera() {
  local program
  for program in wsrep_sst_rsync rsync lsof; do
    command -v "$program" >/dev/null || refuse "$program is not installed" "run: scripts/install galera"
  done
  [[ -e $galera_library ]] || refuse "galera-4 is not installed" "run: scripts/install galera"
}

readonly galera_library=/usr/lib/galera/libgalera_smm.so

choose_galera_ports() {
  pick_ports db_ports "$databases"
  pick_ports db_group_ports "$databases"
  pick_ports db_copy_ports "$databases"
  pick_ports db_missed_ports "$databases"
  db_folder=$dir/galera
  if ((EUID == 0)); then
    db_folder=$(mktemp -d /tmp/rota-galera.XXXXXX)
    chown nobody: "$db_folder"
    chmod 711 "$db_folder"
  fi
  db_port=${db_ports[0]} db_socket=$db_folder/1.sock
}

# prepare_node N
prepare_node() {
  local folder=$db_folder/$1
  (
    umask 077
    mkdir -p "$folder/tmp"
    if ((EUID == 0)); then chown -R nobody: "$folder"; fi
  )
  "$scripts/lib/as_database_user" mariadb-install-db --no-defaults --force --skip-name-resolve \
    --datadir="$folder/data" --tmpdir="$folder/tmp" \
    --auth-root-authentication-method=normal --skip-test-db >"$dir/logs/mariadb-install.log" 2>&1 ||
    { show_log_end mariadb-install 60; refuse "mariadb-install-db failed" "see the lines above"; }
}

galera_addresses() {
  local list
  printf -v list '127.0.0.1:%s,' "${db_group_ports[@]}"
  printf '%s\n' "${list%,}"
}

# start_node N [first]: `first` makes a new cluster of it.
start_node() {
  local n=$1 folder=$db_folder/$1 peers group=${db_group_ports[$1 - 1]}
  local options="base_port=$group;gmcast.listen_addr=tcp://127.0.0.1:$group;gcache.size=64M"
  options+=";ist.recv_addr=127.0.0.1:${db_missed_ports[n - 1]}"
  options+=';evs.suspect_timeout=PT3S;evs.inactive_timeout=PT10S' # before masters give their database up
  peers=gcomm://$(galera_addresses)
  if [[ ${2:-} == first ]]; then peers=gcomm://; fi
  rm -f "$db_folder/$n.sock"
  start_detached "mariadb-$n" "$scripts/lib/as_database_user" mariadbd --no-defaults \
    --datadir="$folder/data" --tmpdir="$folder/tmp" --socket="$db_folder/$n.sock" \
    --pid-file="$folder/mariadb.pid" --bind-address=127.0.0.1 --port="${db_ports[n - 1]}" \
    --skip-name-resolve --innodb-flush-log-at-trx-commit=1 --performance-schema=OFF \
    --max-connections=500 --max-allowed-packet=64M \
    --wsrep-on=ON --binlog-format=ROW --innodb-autoinc-lock-mode=2 \
    --wsrep-provider="$galera_library" --wsrep-cluster-name=rota --wsrep-node-name="mariadb-$n" \
    --wsrep-node-address="127.0.0.1:$group" --wsrep-sst-method=rsync \
    --wsrep-sst-receive-address="127.0.0.1:${db_copy_ports[n - 1]}" \
    --wsrep-provider-options="$options" \
    --wsrep-cluster-address="$peers"
}

# ask_node N SQL: as root, through its socket.
ask_node() {
  timeout 10 mariadb --no-defaults --user=root --socket="$db_folder/$1.sock" --batch --skip-column-names \
    --execute "$2"
}

# is_node_serving N: it has all that the others have, and a majority.
is_node_serving() {
  local asked="SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_ready', 'wsrep_local_state_comment')"
  [[ -S $db_folder/$1.sock ]] &&
    [[ $(ask_node "$1" "$asked" 2>/dev/null | cut -f2 | LC_ALL=C sort | paste -sd,) == ON,Synced ]]
}

# One after the other: each gets its copy from those before it.
start_galera() {
  local n first=''
  mkdir -p "$db_folder"
  if [[ ! -e $dir/secrets/db_password ]]; then
    for ((n = 1; n <= databases; n++)); do prepare_node "$n"; done
    make_db_password
    first=first
  fi
  for ((n = 1; n <= databases; n++)); do
    if ! is_running "mariadb-$n"; then start_node "$n" "$first"; fi
    first=''
    await 120 is_node_serving "$n" || give_up_on "mariadb-$n" "does not join"
  done
}

remove_galera_folder() {
  case ${db_folder:-} in
    /tmp/rota-galera.*) rm -rf "$db_folder" ;;
  esac
}
