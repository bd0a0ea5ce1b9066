# shellcheck shell=bash
# The identity of a process: its pid and its start time (field 22 of /proc/PID/stat, in clock ticks
# since boot). The pid alone may belong to another process by the time a signal is sent.

# read_stat PID: sets stat_state, stat_parent and stat_ticks; fails when there is no such process.
# Without `read`: signal handlers call this too, and a `read` in one of them takes away the time limit of an
# interrupted `read`, which then never ends.
read_stat() {
  local lines=() fields IFS=' '
  { mapfile -t -n 1 lines <"/proc/$1/stat"; } 2>/dev/null || return 1
  if [[ -z ${lines[0]:-} ]]; then return 1; fi
  # The name in parentheses may contain blanks. After it there are only numbers and one letter, which are
  # no patterns. (A here-string would be a pipe, read byte by byte.)
  # shellcheck disable=SC2206
  fields=(${lines[0]##*) })
  stat_state=${fields[0]} stat_parent=${fields[1]} stat_ticks=${fields[19]}
}

# record_identity PID FILE: writes "PID TICKS"; fails when the process is already gone, or when there is no
# room for the file. It overwrites the old record in one write of fixed length: nobody reads half of it, and
# it works on a full disk when there was a record before.
record_identity() {
  read_stat "$1" || return 1
  { printf '%-10s %-20s\n' "$1" "$stat_ticks" 1<>"$2"; } 2>/dev/null
}

# forget_identity FILE: makes it an empty record, and keeps its room.
forget_identity() { { printf '%31s\n' '' 1<>"$1"; } 2>/dev/null || rm -f "$1"; }

# read_identity FILE: sets known_pid and known_ticks; fails when there is no such record.
read_identity() {
  known_pid='' known_ticks=''
  { read -r known_pid known_ticks <"$1"; } 2>/dev/null || return 1
  [[ $known_pid =~ ^[0-9]+$ && $known_ticks =~ ^[0-9]+$ ]]
}

# is_process PID TICKS: whether exactly that process is alive. A zombie counts as dead.
is_process() {
  read_stat "$1" && [[ $stat_ticks == "$2" && $stat_state != Z && $stat_state != X ]]
}

# is_recorded_alive FILE: whether the process recorded in FILE is alive; sets known_pid.
is_recorded_alive() { read_identity "$1" && is_process "$known_pid" "$known_ticks"; }

# signal_recorded FILE SIGNAL: signals the recorded process, and no other.
signal_recorded() {
  is_recorded_alive "$1" && kill "-$2" "$known_pid" 2>/dev/null
}

# list_descendants PID...: "PID TICKS" lines of the given processes and all their descendants.
list_descendants() {
  local pid parent
  local -A parent_of=() wanted=()
  while read -r pid parent; do parent_of[$pid]=$parent; done < <(ps -e -o pid=,ppid=)
  for pid in "$@"; do wanted[$pid]=1; done
  for pid in "${!parent_of[@]}"; do
    parent=$pid
    while [[ -n $parent && $parent != 0 ]]; do
      if [[ -n ${wanted[$parent]:-} ]]; then
        if read_stat "$pid"; then printf '%s %s\n' "$pid" "$stat_ticks"; fi
        break
      fi
      parent=${parent_of[$parent]:-}
    done
  done
}
