# shellcheck shell=bash
# Finds the processes of a target of `scripts/cluster kill`, and signals them.

# aim TARGET: sets aimed_pids, and watchdog_pid when they have a watchdog.
aim() {
  local target=$1 name=${1%%.*} part=''
  if [[ $target == *.* ]]; then part=${target#*.}; fi
  if [[ $name == leader ]]; then
    await 10 read_leader || refuse "there is no leader after 10 s" "see: scripts/cluster status"
    name=$leader
  fi
  if [[ $name == zookeeper ]]; then name=zookeeper-1; fi
  aimed_name=$name${part:+.$part}
  aimed_pids=() watchdog_pid=''
  case $name in
    zookeeper-* | mariadb | mariadb-* | etcd) aim_at_server "$name" "$part" ;;
    master-*) aim_at_master "$name" "$part" ;;
    worker-*) aim_at_worker "$name" "$part" ;;
    *) misuse "unknown target '$target'" ;;
  esac
  ((${#aimed_pids[@]})) ||
    refuse "$aimed_name does not run" "start it: scripts/cluster start $name"
}

aim_at_server() {
  [[ -z $2 ]] || misuse "$1 has no part '$2'"
  if is_recorded_alive "$dir/pids/$1"; then aimed_pids=("$known_pid"); fi
}

read_watchdog() {
  watchdog_pid=''
  if is_recorded_alive "$dir/pids/$1.watchdog"; then watchdog_pid=$known_pid; fi
}

aim_at_watchdog() {
  read_watchdog "$1"
  if [[ -n $watchdog_pid ]]; then aimed_pids=("$watchdog_pid"); fi
  watchdog_pid=''
}

aim_at_master() {
  case $2 in
    '' | host) if is_recorded_alive "$dir/$1/$1.pid"; then aimed_pids=("$known_pid"); fi ;;
    watchdog) aim_at_watchdog "$1"; return ;;
    *) misuse "a master has the parts watchdog and host, not '$2'" ;;
  esac
  read_watchdog "$1"
  if [[ $2 == host ]]; then aim_at_host; fi
}

aim_at_worker() {
  if [[ $2 == watchdog ]]; then aim_at_watchdog "$1"; return; fi
  if read_worker_parts "$1"; then
    case $2 in
      '') aimed_pids=("${warden_pids[@]}" "${proper_pids[@]}") ;;
      warden) aimed_pids=("${warden_pids[@]}") ;;
      proper) aimed_pids=("${proper_pids[@]}") ;;
      host) aimed_pids=("${family_pids[@]}") ;;
      *) misuse "a worker has the parts proper, warden, watchdog and host, not '$2'" ;;
    esac
  fi
  read_watchdog "$1"
  if [[ $2 == host ]]; then aim_at_host; fi
}

# A host includes its watchdog, and the watchdog comes first, so that it restarts nothing.
aim_at_host() {
  if [[ -n $watchdog_pid ]]; then aimed_pids=("$watchdog_pid" "${aimed_pids[@]}"); fi
  watchdog_pid=''
}

# have_stopped PID...: whether none of them runs any more; this takes a moment on a busy machine.
have_stopped() {
  local pid
  for pid in "$@"; do
    if read_stat "$pid" && [[ $stat_state != [TtZX] ]]; then return 1; fi
  done
}

# signal_aimed SIGNAL HOLD: stops the watchdog before a STOP, continues it after a CONT. Prints what was
# signalled and when, for measurements.
signal_aimed() {
  local signal=$1 hold=$2 now_ms
  if [[ $signal == STOP && $hold == yes && -n $watchdog_pid ]]; then
    kill -STOP "$watchdog_pid" 2>/dev/null || true
    await 5 have_stopped "$watchdog_pid" || true
  fi
  read_clock
  kill "-$signal" "${aimed_pids[@]}" 2>/dev/null || true
  if [[ $signal == CONT && -n $watchdog_pid ]]; then kill -CONT "$watchdog_pid" 2>/dev/null || true; fi
  if [[ $signal == STOP ]]; then await 5 have_stopped "${aimed_pids[@]}" || true; fi
  printf 'signal=%s target=%s pids=%s at_ms=%s\n' "$signal" "$aimed_name" \
    "$(IFS=,; echo "${aimed_pids[*]}")" "$now_ms"
}
