#!/usr/bin/env bash
# Tests the image from build-here.sh against the development servers, read-only and without privileges. The test runs one import,
# from empty stores to the finished record. Needs root, and installs Debian's podman and runc.
set -euo pipefail
cd "$(dirname "$0")/../.."
source deploy/image/here.sh
source scripts/use-node.sh
install_missing podman runc
npm run --silent stack:up
npx vitest run --project image
