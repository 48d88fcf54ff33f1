#!/usr/bin/env bash
# RUSTDOC for lists of entry points: rustdoc's JSON, which stable has behind a switch. For rustdoc alone, so that what it reads is
# what other documentation reads.
RUSTC_BOOTSTRAP=1 exec rustdoc "$@" -Z unstable-options --output-format json
