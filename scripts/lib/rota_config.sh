# shellcheck shell=bash
# The configuration files of a private cluster's masters and workers. A setting is a dotted key
# (zookeeper.connect); `up --set master.KEY=VALUE` overrides any of them for all masters, or with
# master-2.KEY for one.

# write_config NAME: NAME.yaml from the defaults of a private cluster and the --set overrides.
write_config() {
  local name=$1 kind=${1%-*} n=${1##*-} setting
  local -A values=(
    [id]=$name [cluster]=rota [state_dir]=$dir/$name [heartbeat_file]=$dir/$name/heartbeat
    [zookeeper.connect]="\"$(zookeeper_addresses)\"" [zookeeper.server_tick_ms]=500
    [listen.host]=127.0.0.1
  )
  case $kind in
    master)
      values[listen.port]=${master_ports[n - 1]}
      if ((${#master_http_ports[@]})); then values[http.port]=${master_http_ports[n - 1]}; fi
      values[database.host]=127.0.0.1
      values[database.port]=$db_port
      if ((databases > 1)); then values[database.hosts]=$(database_hosts "$n"); fi
      values[database.user]=rota
      values[database.name]=rota
      values[database.password_file]=$dir/secrets/db_password
      values[elector]=$elector
      if [[ $elector == etcd ]]; then values[etcd.endpoints]="[\"http://127.0.0.1:$etcd_port\"]"; fi
      if [[ -n $session_ms ]]; then values[zookeeper.session_timeout_ms]=$session_ms; fi ;;
    worker)
      values[listen.port]=${worker_ports[n - 1]}
      if ((${#worker_http_ports[@]})); then values[http.port]=${worker_http_ports[n - 1]}; fi ;;
  esac
  for setting in "${settings[@]}"; do
    case $setting in
      "$kind".* | "$name".*)
        setting=${setting#*.}
        values[${setting%%=*}]=${setting#*=} ;;
    esac
  done
  print_yaml >"$dir/$name.yaml"
}

# database_hosts N: the servers, as master-N prefers them: on Galera each master begins with another node.
database_hosts() {
  local i list=''
  if ! is_galera; then set -- 1; fi
  for ((i = 0; i < databases; i++)); do list+="\"127.0.0.1:${db_ports[(i + $1 - 1) % databases]}\", "; done
  printf '[%s]\n' "${list%, }"
}

# print_yaml: the array `values` of the caller, dotted keys unfolded into nested ones.
print_yaml() {
  local key part depth indent seen=''
  local -a parts
  while IFS= read -r key; do
    IFS=. read -ra parts <<<"$key"
    local path='' last=$((${#parts[@]} - 1))
    for ((depth = 0; depth <= last; depth++)); do
      part=${parts[depth]}
      path+=$part.
      printf -v indent '%*s' $((depth * 2)) ''
      if ((depth == last)); then
        printf '%s%s: %s\n' "$indent" "$part" "${values[$key]}"
      elif [[ $seen != *" $path "* ]]; then
        printf '%s%s:\n' "$indent" "$part"
        seen+=" $path "
      fi
    done
  done < <(printf '%s\n' "${!values[@]}" | LC_ALL=C sort)
}

# check_setting KEY=VALUE: checks the form of a --set; the program checks whether the key exists.
check_setting() {
  [[ $1 =~ ^(master|worker)(-[0-9]+)?\.[a-z_.]+=.*$ ]] ||
    misuse "--set '$1' must look like master.KEY=VALUE, worker.KEY=VALUE or worker-2.KEY=VALUE"
}
