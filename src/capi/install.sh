#!/usr/bin/env bash
# Builds the C library and installs it: header, static and shared library, files for pkg-config and CMake.
#
#   src/capi/install.sh PREFIX      DESTDIR is obeyed; CC, LD, AR and OBJCOPY name other tools; LANEBOOK_CARGO_FLAGS go to cargo
#
# Both libraries export the functions of lanebook.h and nothing else: they may stand beside other Rust code in a program.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
[ $# -eq 1 ] || { sed -n '2,6p' "$0" >&2; exit 2; }
case $1 in /*) prefix=$1 ;; *) prefix=$PWD/$1 ;; esac
cd "$root"
target=${CARGO_TARGET_DIR:-$root/target}
to=${DESTDIR:-}$prefix
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
# A minor version may change structures until there is a major one.
abi=$(echo "$version" | awk -F. '{print $1 == 0 ? $1 "." $2 : $1}')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cargo rustc -q -p lanebook-capi --profile freestanding ${LANEBOOK_CARGO_FLAGS:-} --features freestanding --crate-type staticlib --target-dir "$target"
sed -n 's/^[a-z].*[ *]\(lb_[a-z_]*\)(.*/\1/p' src/capi/lanebook.h | grep -v '^lb_sink$' | sort -u > "$work/functions"
# One object with what these functions need; every other name becomes its own.
"${LD:-ld}" -r --gc-sections --force-group-allocation -e lb_version $(sed 's/^/--undefined=/' "$work/functions") "$target/freestanding/liblanebook_capi.a" -o "$work/lanebook.o"
# Of the toolchain's own objects only the machine code is wanted, not the bitcode beside it.
"${OBJCOPY:-objcopy}" --keep-global-symbols="$work/functions" --remove-section=.llvmbc --remove-section=.llvmcmd --strip-debug "$work/lanebook.o"
"${AR:-ar}" crs "$work/liblanebook.a" "$work/lanebook.o"
"${CC:-cc}" -shared -Wl,-soname,"liblanebook.so.$abi" -Wl,--gc-sections "$work/lanebook.o" -o "$work/liblanebook.so.$version"

mkdir -p "$to/include" "$to/lib/pkgconfig" "$to/lib/cmake/lanebook"
install -m 644 src/capi/lanebook.h "$to/include/lanebook.h"
install -m 644 "$work/liblanebook.a" "$to/lib/liblanebook.a"
install -m 755 "$work/liblanebook.so.$version" "$to/lib/liblanebook.so.$version"
ln -sf "liblanebook.so.$version" "$to/lib/liblanebook.so.$abi"
ln -sf "liblanebook.so.$abi" "$to/lib/liblanebook.so"
cat > "$to/lib/pkgconfig/lanebook.pc" <<END
prefix=$prefix
includedir=\${prefix}/include
libdir=\${prefix}/lib

Name: lanebook
Description: GPU data layouts, by the book
Version: $version
Cflags: -I\${includedir}
Libs: -L\${libdir} -llanebook
END
cat > "$to/lib/cmake/lanebook/lanebook-config.cmake" <<'END'
# Targets: lanebook::lanebook (shared), lanebook::static.
get_filename_component(_lanebook_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET lanebook::lanebook)
  add_library(lanebook::lanebook SHARED IMPORTED)
  set_target_properties(lanebook::lanebook PROPERTIES
    IMPORTED_LOCATION "${_lanebook_prefix}/lib/liblanebook.so"
    INTERFACE_INCLUDE_DIRECTORIES "${_lanebook_prefix}/include")
  add_library(lanebook::static STATIC IMPORTED)
  set_target_properties(lanebook::static PROPERTIES
    IMPORTED_LOCATION "${_lanebook_prefix}/lib/liblanebook.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_lanebook_prefix}/include")
endif()
unset(_lanebook_prefix)
END
cat > "$to/lib/cmake/lanebook/lanebook-config-version.cmake" <<END
# Versions below 1 suit their own minor version alone.
set(PACKAGE_VERSION "$version")
if(PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
else()
  string(REGEX MATCH "^[0-9]+\\\\.[0-9]+" _lanebook_own "\${PACKAGE_VERSION}")
  if("\${PACKAGE_FIND_VERSION}" STREQUAL "" OR "\${PACKAGE_FIND_VERSION_MAJOR}.\${PACKAGE_FIND_VERSION_MINOR}" STREQUAL "\${_lanebook_own}")
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
  else()
    set(PACKAGE_VERSION_COMPATIBLE FALSE)
  endif()
  if("\${PACKAGE_FIND_VERSION}" STREQUAL "\${PACKAGE_VERSION}")
    set(PACKAGE_VERSION_EXACT TRUE)
  endif()
endif()
END
echo "lanebook $version: $to/lib/liblanebook.a ($(stat -c %s "$to/lib/liblanebook.a") bytes), liblanebook.so.$abi ($(stat -c %s "$to/lib/liblanebook.so.$version") bytes)"
