#!/bin/sh
# SeaweedFS with one owner. Other users: "weed shell", s3.configure; see deploy/README.md.
set -eu
cat >/tmp/s3.json <<JSON
{"identities": [{"name": "inlet", "credentials": [{"accessKey": "inlet", "secretKey": "$STORAGE_SECRET"}],
  "actions": ["Admin", "Read", "List", "Tagging", "Write"]}]}
JSON
exec weed server -dir=/data -ip=storage -ip.bind=0.0.0.0 -s3 -s3.config=/tmp/s3.json
