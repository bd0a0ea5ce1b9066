# shellcheck shell=bash
# The folder of a private cluster: its files, the decisions of `up`, free ports, and how a process is
# started so that `down` finds it again.
#
#   cluster.state          the counts and ports, as shell assignments; marks the folder as ours
#   pids/NAME              pid and start time of a process that the cluster started
#   logs/NAME.log          output of NAME
#   elector.named          the elector was named in the database
#   secrets/db_password    the database user's password (0600)
#   zookeeper-N/ mariadb/ galera/ databases/ etcd/  the servers' own folders
#   master-N/ worker-N/    state folders, with the watchdog's files
#   master-N.yaml ...      configurations

# The environment variable by which `down` recognises a process of this folder even when every record
# of it is lost. It does not begin with ROTA_: those are settings.
readonly folder_mark=PRIVATE_CLUSTER_FOLDER

state_keys=(masters workers zookeepers elector session_ms bin_dir databases db_port db_socket db_folder
  etcd_port etcd_peer_port)

is_cluster_folder() { [[ -f $dir/cluster.state ]]; }

load_state() {
  is_cluster_folder ||
    refuse "no cluster is up in $dir" "start one: scripts/cluster up --dir $dir"
  master_http_ports=() worker_http_ports=() elector=zookeeper databases=1
  db_ports=() db_group_ports=() db_copy_ports=() db_missed_ports=() db_folder=''
  # shellcheck disable=SC1091  # written by save_state
  . "$dir/cluster.state"
}

save_state() {
  {
    declare -p "${state_keys[@]}" zk_ports zk_quorum_ports zk_election_ports master_ports \
      worker_ports master_http_ports worker_http_ports settings \
      db_ports db_group_ports db_copy_ports db_missed_ports
  } | sed 's/^declare -[-a-zA-Z]* /&/; s/^declare -- //; s/^declare -a //' >"$dir/cluster.state.new"
  mv "$dir/cluster.state.new" "$dir/cluster.state"
}

# Ports below the range that the kernel assigns by itself, so that no client can occupy one. A port that
# another process has chosen but does not listen on yet cannot be seen: PRIVATE_CLUSTER_PORTS=FIRST-LAST is
# for tests that start several clusters at the same time.
read_used_ports() {
  local place rest
  used_ports=' '
  while read -r _ place rest; do
    used_ports+="$((16#${place##*:})) "
  done < <(sed 1d /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -v local_address)
}

# pick_port: puts a free port of 127.0.0.1 into $port; never the same twice in one run.
picked_ports=' '
pick_port() {
  local range=${PRIVATE_CLUSTER_PORTS:-15000-30999}
  local first=${range%-*} last=${range#*-}
  if [[ -z ${used_ports:-} ]]; then read_used_ports; fi
  while :; do
    port=$((first + RANDOM % (last - first + 1)))
    if [[ $used_ports != *" $port "* && $picked_ports != *" $port "* ]]; then break; fi
  done
  picked_ports+="$port "
}

# pick_ports ARRAY COUNT
pick_ports() {
  local -n ports=$1
  local i
  ports=()
  for ((i = 0; i < $2; i++)); do pick_port; ports+=("$port"); done
}

# is_listening PORT: whether a process accepts connections there.
is_listening() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# start_detached NAME COMMAND...: starts it in a session of its own, without the caller's descriptors
# and ROTA_ settings, and records it under pids/NAME.
start_detached() {
  local name=$1 pid
  shift
  (
    close_inherited
    while IFS= read -r setting; do unset "$setting"; done < <(compgen -e ROTA_)
    export "$folder_mark=$dir"
    cd "$dir" || exit 1
    exec setsid "$@" </dev/null >>"$dir/logs/$name.log" 2>&1
  ) &
  pid=$!
  record_identity "$pid" "$dir/pids/$name" || true
}

# show_log_end NAME [LINES]: the last lines of a log, for an error message.
show_log_end() {
  if [[ -s $dir/logs/$1.log ]]; then
    note "the end of $dir/logs/$1.log:"
    tail -n "${2:-12}" "$dir/logs/$1.log" | sed 's/^/      /' >&2
  fi
}
