#!/bin/sh
# Creates the bucket and its owner. SeaweedFS allows anonymous access until it has a user.
set -eu
ask() { echo "$1" | weed shell -master=storage:9333; }
has_bucket() { ask s3.bucket.list | grep -qw inlet; }
# The output contains secrets, so it is checked but never printed.
has_owner() { case $(ask s3.configure) in *'"inlet"'*"\"$STORAGE_SECRET\""*) ;; *) return 1 ;; esac }
# Runs every time, because the secret may have changed. The output is discarded, because it contains the secret.
configure() { ask "s3.configure -user=inlet -access_key=inlet -secret_key=$STORAGE_SECRET -actions=Admin,Read,Write,List,Tagging -apply" >/dev/null; }

# `weed shell` exits with code 0 even if it did nothing, so the script verifies the owner and the bucket.
until configure && has_owner && { has_bucket || { ask 's3.bucket.create -name=inlet' && has_bucket; }; }; do
  sleep 1
done
