#!/bin/sh
# What a container runs: "api", "worker", or a command of bin/inlet: "doctor", "migrate", "partner create acme" …
case "$1" in
  api) exec node src/entry/api.ts ;;
  # Why these flags: stack/process-arguments.ts. A test compares.
  worker)
    exec node --max-semi-space-size=1 --external-memory-accounted-in-global-limit --initial-old-space-size=96 \
      src/entry/worker.ts
    ;;
  *) exec node bin/inlet "$@" ;;
esac
