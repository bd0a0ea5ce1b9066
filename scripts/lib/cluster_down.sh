# shellcheck shell=bash
# Takes a private cluster down: first the processes of its own folder, each checked by pid and start
# time, then the folder itself. No other process is touched.

# all_recorded: "PID TICKS" of every process on record in the folder.
all_recorded() {
  local record
  for record in "$dir"/pids/* "$dir"/master-*/*.pid "$dir"/worker-*/*.pid; do
    if is_recorded_alive "$record"; then printf '%s %s\n' "$known_pid" "$known_ticks"; fi
  done
}

# all_marked: "PID TICKS" of the processes that have the folder's mark in their environment.
all_marked() {
  local file pid
  while IFS= read -r file; do
    pid=${file#/proc/}
    pid=${pid%/environ}
    if ((pid != $$ && pid != BASHPID)) && read_stat "$pid"; then
      printf '%s %s\n' "$pid" "$stat_ticks"
    fi
  done < <(grep -lzxF "$folder_mark=$dir" /proc/[0-9]*/environ 2>/dev/null || true)
}

# all_of_folder: the recorded and the marked processes, and all their descendants.
all_of_folder() {
  local -a tops
  mapfile -t tops < <({ all_recorded; all_marked; } | cut -d' ' -f1 | sort -u)
  if ((${#tops[@]})); then list_descendants "${tops[@]}"; fi
}

# signal_listed SIGNAL < "PID TICKS" lines: signals those that are still the same process.
signal_listed() {
  local pid ticks
  while read -r pid ticks; do
    if is_process "$pid" "$ticks"; then kill "-$1" "$pid" 2>/dev/null || true; fi
  done
}

# are_gone LIST: whether none of the listed processes lives.
are_gone() {
  local pid ticks
  while read -r pid ticks; do
    if [[ -n $pid ]] && is_process "$pid" "$ticks"; then return 1; fi
  done <<<"$1"
}

# Ends the Rota processes: stop files, TERM, and after three seconds KILL for the rest. A worker may
# be draining a long job; a private cluster does not wait for it.
end_rota_processes() {
  local name record everything
  for name in $(list_masters) $(list_workers); do
    if [[ -d $dir/$name ]]; then : >"$dir/$name/$name.stop"; fi
  done
  everything=$(rota_family)
  if [[ -z $everything ]]; then return; fi
  signal_listed CONT <<<"$everything"
  for record in "$dir"/pids/*.watchdog "$dir"/master-*/*.pid "$dir"/worker-*/*.pid; do
    signal_recorded "$record" TERM || true
  done
  if ! await 3 are_gone "$everything"; then
    everything+=$'\n'$(rota_family)
    signal_listed KILL < <(grep . <<<"$everything" || true)
    await 60 are_gone "$everything" || complain "some processes do not end" "see: ps -ef"
  fi
}

rota_family() {
  local record tops=()
  for record in "$dir"/pids/*.watchdog "$dir"/master-*/*.pid "$dir"/worker-*/*.pid; do
    if is_recorded_alive "$record"; then tops+=("$known_pid"); fi
  done
  if ((${#tops[@]})); then list_descendants "${tops[@]}"; fi
}

# Ends what a worker without a pid namespace may have left behind.
sweep_workers() {
  local name
  if [[ ! -x $bin_dir/rota-worker ]]; then return; fi
  for name in $(list_workers); do
    if [[ -d $dir/$name ]]; then
      timeout 10 "$bin_dir/rota-worker" --sweep --state-dir "$dir/$name" >/dev/null 2>&1 || true
    fi
  done
}

end_servers() {
  local name servers=''
  for name in $(list_zookeepers) $(list_databases); do
    if is_recorded_alive "$dir/pids/$name"; then
      servers+="$known_pid $known_ticks"$'\n'
      { kill -CONT "$known_pid" && kill -TERM "$known_pid"; } 2>/dev/null || true
    fi
  done
  await 30 are_gone "$servers" || signal_listed KILL <<<"$servers"
}

end_the_rest() {
  local rest
  rest=$(all_of_folder)
  if [[ -z $rest ]]; then return; fi
  signal_listed KILL <<<"$rest"
  await 60 are_gone "$rest" ||
    refuse "processes of $dir do not end: $(cut -d' ' -f1 <<<"$rest" | paste -sd' ')" \
      "look at them with ps, then run this again"
}

# take_down: ends everything. The folder is removed last, so that an interrupted `down` can be repeated.
take_down() {
  end_rota_processes
  sweep_workers
  end_servers
  end_the_rest
  remove_db_socket_folder
  remove_galera_folder
  rm -rf "$dir"
  rmdir "$(dirname "$dir")" 2>/dev/null || true # .local, when nothing else is in it
}
