#!/bin/sh
# Entry point of the container. The arguments are "api", "worker", or an inlet command such as "doctor", "migrate", or
# "partner create acme".
case "$1" in
  api) exec node src/entry/api.ts ;;
  # stack/process-arguments.ts explains these flags. A test checks that both files have the same flags.
  worker)
    exec node --max-semi-space-size=1 --external-memory-accounted-in-global-limit --initial-old-space-size=96 \
      src/entry/worker.ts
    ;;
  *) exec node bin/inlet "$@" ;;
esac
