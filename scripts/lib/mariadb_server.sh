# shellcheck shell=bash
# A private MariaDB on loopback with a database `rota` and a user `rota`. The password is made here
# and stored in secrets/db_password; root can connect only through the socket, which is in a folder
# that nobody else may enter.

# Temporary tables have a folder of their own: in a shared folder, a server that starts removes those of
# other servers.
prepare_mariadb() {
  mkdir -p "$dir/mariadb/tmp"
  mariadb-install-db --no-defaults --force --skip-name-resolve --user="$(id -un)" \
    --datadir="$dir/mariadb/data" --tmpdir="$dir/mariadb/tmp" \
    --auth-root-authentication-method=normal --skip-test-db \
    >"$dir/logs/mariadb-install.log" 2>&1 ||
    { show_log_end mariadb-install 60; refuse "mariadb-install-db failed" "see the lines above"; }
  make_db_password
}

make_db_password() {
  (
    umask 077
    od -An -N24 -tx1 /dev/urandom | tr -d ' \n' >"$dir/secrets/db_password"
  )
}

start_mariadb() {
  rm -f "$db_socket"
  mkdir -p "$dir/mariadb/tmp"
  start_detached mariadb mariadbd --no-defaults --user="$(id -un)" \
    --datadir="$dir/mariadb/data" --tmpdir="$dir/mariadb/tmp" --socket="$db_socket" \
    --pid-file="$dir/mariadb/mariadb.pid" \
    --bind-address=127.0.0.1 --port="$db_port" --skip-name-resolve \
    --innodb-flush-log-at-trx-commit=1 --performance-schema=OFF --max-connections=500 \
    --max-allowed-packet=64M
}

# ask_mariadb SQL: asks as root, through the socket.
ask_mariadb() {
  mariadb --no-defaults --user=root --socket="$db_socket" --batch --skip-column-names \
    --execute "$1"
}

is_mariadb_serving() { ask_mariadb 'SELECT 1' >/dev/null 2>&1; }

# Tests make databases of their own, so the user may use every name that begins with rota.
create_rota_database() {
  local password
  password=$(<"$dir/secrets/db_password")
  ask_mariadb "
    DELETE FROM mysql.global_priv WHERE NOT (User = 'root' AND Host = 'localhost')
      AND User NOT IN ('mariadb.sys', 'rota', 'replica');
    FLUSH PRIVILEGES;
    CREATE DATABASE IF NOT EXISTS rota CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
    CREATE USER IF NOT EXISTS rota@'127.0.0.1' IDENTIFIED BY '$password';
    CREATE USER IF NOT EXISTS rota@localhost IDENTIFIED BY '$password';
    GRANT ALL ON \`rota%\`.* TO rota@'127.0.0.1';
    GRANT ALL ON \`rota%\`.* TO rota@localhost;"
}

# A socket's path must be shorter than 100 bytes; with a long folder name it gets a short place.
choose_db_socket() {
  db_socket=$dir/mariadb/db.sock
  if ((${#db_socket} >= 100)); then db_socket=$(mktemp -d /tmp/rota-socket.XXXXXX)/db.sock; fi
}

remove_db_socket_folder() {
  case ${db_socket:-} in
    /tmp/rota-socket.*/db.sock) rm -rf "${db_socket%/db.sock}" ;;
  esac
}
