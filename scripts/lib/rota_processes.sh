# shellcheck shell=bash
# The Rota processes of a private cluster: each runs under a watchdog. The processes of a worker:
#
#   watchdog (bash) -> rota-warden -> [rota-warden, pid 1 of a pid namespace] -> rota-worker
#                                                        |                       (the proper)
#                                                        `-> jobs

list_masters() { local i; for ((i = 1; i <= masters; i++)); do echo "master-$i"; done; }
list_workers() { local i; for ((i = 1; i <= workers; i++)); do echo "worker-$i"; done; }
list_zookeepers() { local i; for ((i = 1; i <= zookeepers; i++)); do echo "zookeeper-$i"; done; }

# The servers of this cluster, one a line.
list_servers() {
  list_zookeepers
  list_databases
  if [[ $elector == etcd ]]; then echo etcd; fi
}

# name_elector: names it in the new database, before the first master starts; later that is the operator's.
name_elector() {
  (
    while IFS= read -r setting; do unset "$setting"; done < <(compgen -e ROTA_)
    "$bin_dir/rota-master" --config "$dir/master-1.yaml" --set-elector "$elector" --yes
  ) >"$dir/logs/elector.log" 2>&1 ||
    { show_log_end elector; refuse "the elector could not be named" "see the lines above"; }
  : >"$dir/elector.named"
}

# start_rota NAME: starts it under a watchdog, unless that watchdog already runs. On a private cluster a
# life of three seconds counts as healthy, so that repeated drills are not slowed down.
start_rota() {
  local name=$1 kind=${1%-*} hang_ms
  hang_ms=$(sed -n 's/^hang_limit_ms: *//p' "$dir/$name.yaml")
  mkdir -p "$dir/$name"
  rm -f "$dir/$name/$name.stop"
  start_detached "$name.watchdog" "$scripts/watchdog" --name "$name" --dir "$dir/$name" \
    --kind "$kind" --heartbeat "$dir/$name/heartbeat" --settled-ms 3000 \
    --hang-ms "${hang_ms:-30000}" \
    --output "$dir/logs/$name.log" -- "$bin_dir/rota-$kind" --config "$dir/$name.yaml"
}

# is_running NAME: whether the process with that name is alive.
is_running() {
  case $1 in
    master-* | worker-*) is_recorded_alive "$dir/$1/$1.pid" ;;
    *) is_recorded_alive "$dir/pids/$1" ;;
  esac
}

is_watched() { is_recorded_alive "$dir/pids/$1.watchdog"; }

# read_family PID: "PID PARENT NAME" of it and all its descendants, parents first.
read_family() {
  ps -e -o pid=,ppid=,comm= | awk -v top="$1" '
    { parent[$1] = $2; name[$1] = $3; children[$2] = children[$2] " " $1 }
    function show(p,   list, i, n) {
      if (!(p in name)) return
      print p, parent[p], name[p]
      n = split(children[p], list, " ")
      for (i = 1; i <= n; i++) show(list[i])
    }
    END { show(top) }'
}

# read_worker_parts NAME: sets warden_pids, proper_pids and family_pids of a worker.
read_worker_parts() {
  local pid parent name
  warden_pids=() proper_pids=() family_pids=()
  is_recorded_alive "$dir/$1/$1.pid" || return 1
  local -A is_warden=()
  while read -r pid parent name; do
    family_pids+=("$pid")
    if ((pid == known_pid)); then
      warden_pids+=("$pid") is_warden[$pid]=1
    elif [[ -n ${is_warden[$parent]:-} && $name == rota-worker ]]; then
      proper_pids+=("$pid")
    elif [[ $parent == "$known_pid" && $name == rota-warden ]]; then
      warden_pids+=("$pid") is_warden[$pid]=1
    fi
  done < <(read_family "$known_pid")
}

# rota ARGS...: the client for this cluster.
rota() {
  ROTA_ZOOKEEPER=$(zookeeper_addresses) ROTA_MASTERS=$(master_addresses) \
    "$bin_dir/rota" --deadline 3s "$@"
}

master_addresses() {
  local list
  if ((masters == 0)); then return 0; fi
  printf -v list '127.0.0.1:%s,' "${master_ports[@]}"
  printf '%s\n' "${list%,}"
}

# read_leader: puts the id of the leading master into $leader; fails when there is none.
read_leader() {
  leader=$(rota cluster status -o json 2>/dev/null |
    /usr/bin/python3 "$scripts/lib/cluster_status.py" leader) && [[ -n $leader ]]
}

has_leader_and_workers() {
  rota cluster status -o json 2>/dev/null |
    /usr/bin/python3 "$scripts/lib/cluster_status.py" ready "$workers"
}
