#!/bin/sh
# The owner of the bucket, and the bucket. As long as SeaweedFS knows no user it lets everybody in.
set -eu
ask() { echo "$1" | weed shell -master=storage:9333; }
has_bucket() { ask s3.bucket.list | grep -qw inlet; }
# What is configured, secrets among it: it is looked at and not shown.
has_owner() { case $(ask s3.configure) in *'"inlet"'*"\"$STORAGE_SECRET\""*) ;; *) return 1 ;; esac }
# On every run, since the secret may be a new one. It shows what it is about to save.
configure() { ask "s3.configure -user=inlet -access_key=inlet -secret_key=$STORAGE_SECRET -actions=Admin,Read,Write,List,Tagging -apply" >/dev/null; }

# `weed shell` ends with 0 even if it did nothing. So both are asked for afterwards.
until configure && has_owner && { has_bucket || { ask 's3.bucket.create -name=inlet' && has_bucket; }; }; do
  sleep 1
done
