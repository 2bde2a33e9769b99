#!/bin/sh
# The owner of the bucket, and the bucket. As long as SeaweedFS knows no user it lets everybody in.
set -eu
ask() { echo "$1" | weed shell -master=storage:9333; }
until ask s3.bucket.list | grep -qw inlet; do
  # It answers with all that is configured, secrets among it.
  ask "s3.configure -user=inlet -access_key=inlet -secret_key=$STORAGE_SECRET -actions=Admin,Read,Write,List,Tagging -apply" >/dev/null || true
  ask 's3.bucket.create -name=inlet' || true
  sleep 1
done
