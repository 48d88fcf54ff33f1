#!/usr/bin/env bash
# RUSTC_WRAPPER for builds whose stack is measured: what is linked last gets the sizes of its frames, which stable has behind a
# switch, in a section of their own. The code is what it would be without, and every other crate is built as always.
case " $* " in
  *" --crate-type staticlib "*) RUSTC_BOOTSTRAP=1 exec "$@" -Z emit-stack-sizes ;;
  *) exec "$@" ;;
esac
