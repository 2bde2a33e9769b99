#!/usr/bin/env bash
# Runs the image that build-here.sh has built, read-only and without rights, against the development servers: an import, from
# empty stores to its record. Needs root, and Debian's podman and runc, which it installs.
set -euo pipefail
cd "$(dirname "$0")/../.."
source deploy/image/here.sh
source scripts/use-node.sh
install_missing podman runc
npm run --silent stack:up
npx vitest run --project image
