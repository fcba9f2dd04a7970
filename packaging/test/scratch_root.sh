#!/usr/bin/env bash
# Runs a command as root in a file system of its own, which is gone afterwards.
#
#   scratch_root.sh FOLDER COMMAND…           a copy of this machine, kept in memory; FOLDER is at /mnt in there, to be read
#   scratch_root.sh --empty FOLDER COMMAND…   FOLDER itself, and nothing else
#
# No chroot: in one, the kernel gives nobody a user namespace, and so no jail.
set -euo pipefail
[ "$(id -u)" = 0 ] || { echo "error: a scratch root takes root" >&2; exit 1; }
kind=copy
if [ "$1" = --empty ]; then
  kind=empty
  shift
fi
folder=$(realpath "$1")
shift
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
exec unshare --mount --propagation private bash -euc '
  kind=$1 folder=$2
  shift 2
  if [ "$kind" = copy ]; then
    exec 9<"$folder"
    mount -t tmpfs -o mode=0755 scratch /mnt
    mkdir /mnt/upper /mnt/work /mnt/root
    mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work /mnt/root
    for place in proc sys dev; do mount --rbind "/$place" "/mnt/root/$place"; done
    for place in run tmp; do mount -t tmpfs -o mode=1777 scratch "/mnt/root/$place"; done
    mount --bind /proc/self/fd/9 /mnt/root/mnt
    mount -o remount,bind,ro /mnt/root/mnt
    exec 9<&-
    cd /mnt/root
    pivot_root . .
    umount -l .
    exec "$@"
  else
    mount --bind "$folder" "$folder"
    cd "$folder"
    pivot_root . .
    exec "$@"
  fi
' scratch "$kind" "$folder" "$@"
