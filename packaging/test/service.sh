#!/usr/bin/env bash
# Sets the service up in a scratch root, by the instructions in the unit's own head, and calls it.
#
#   service.sh package    from the .deb in /mnt
#   service.sh sources    from /mnt/hydrant, /mnt/deploy and /mnt/examples, without the package
set -euo pipefail
unit=/usr/lib/systemd/system/hydrant.service
say() { printf '  %s\n' "$*"; }
# instructions HEADING - the commands of the unit's head below the line that begins so; systemctl has nothing to talk to here.
instructions() {
  awk -v heading="# $1" 'index($0, heading) == 1 {on = 1; next} on && /^#   /{print substr($0, 5); seen = 1; next}
    on && seen && !/^#$/ {exit}' "$unit" | grep -v '^systemctl'
}

if [ "$1" = package ]; then
  dpkg --install /mnt/*.deb >/dev/null
  [ "$(command -v hydrant)" = /usr/bin/hydrant ]
  hydrant --version
  hydrant doctor --format text | sed 's/^/  /'
  man=$(dpkg -L hydrant | grep -c /man1/)
  [ "$man" -gt 20 ]
  bash -n /usr/share/bash-completion/completions/hydrant
  [ ! -e /etc/systemd/system/multi-user.target.wants/hydrant.service ]
  say "installed, with $man manual pages; the service is not enabled"
  cd /usr/share/doc/hydrant
else
  mkdir -p /tmp/sources/target/release
  cd /tmp/sources
  cp /mnt/hydrant target/release/
  cp -r /mnt/deploy /mnt/examples .
  unit=$PWD/deploy/systemd/hydrant.service
  commands=$(instructions 'The Debian package')
  [ "$(wc -l <<< "$commands")" = 4 ]
  (set -x; eval "$commands")
  unit=/etc/systemd/system/hydrant.service
fi
commands=$(instructions 'Then, with either')
[ "$(wc -l <<< "$commands")" = 5 ]
(set -x; eval "$commands")

systemd-analyze verify "$unit"
# What systemd does before it starts the program: the folders, the user, an environment that has nothing else.
install -d -m 0700 -o hydrant -g hydrant /var/lib/hydrant /var/cache/hydrant
mapfile -t environment < <(sed -n 's/^Environment=//p' "$unit" | tr ' ' '\n')
as_service=(setpriv --reuid hydrant --regid hydrant --init-groups --no-new-privs env -i "${environment[@]}")
mapfile -t check < <(sed -n 's/^ExecStartPre=//p' "$unit")
mapfile -t start < <(sed -n 's/^ExecStart=//p' "$unit")
read -ra check <<< "${check[0]}"
read -ra start <<< "${start[0]}"
"${as_service[@]}" "${check[@]}"
"${as_service[@]}" "${start[@]}" --listen 127.0.0.1:17878 &
service=$!
trap 'kill "$service" 2>/dev/null || true' EXIT
for _ in $(seq 300); do
  curl --silent --fail --max-time 5 http://127.0.0.1:17878/healthz >/dev/null && break
  kill -0 "$service"
  sleep 0.1
done
# The example's tenant is served its own agent, from the folder that its configuration names.
answer=$(curl --silent --show-error --fail --max-time 120 -H 'Host: hydrant.example.org' \
  -H 'Authorization: Bearer example-acme-caller' -H 'Content-Type: application/json' \
  -d '{"uri": "os://agents/greeter.md"}' http://127.0.0.1:17878/v1/hydrate)
grep -q greeter <<< "$answer"
say "the service answers: $(head -c 80 <<< "$answer")…"
kill -TERM "$service"
wait "$service"
trap - EXIT
say "and ends when it is told to"

if [ "$1" = package ]; then
  dpkg --remove hydrant >/dev/null
  [ ! -e /usr/bin/hydrant ]
  [ -e /etc/hydrant/tenants.toml ]
  dpkg --purge hydrant >/dev/null
  say "and is removed, without what its user wrote"
fi
