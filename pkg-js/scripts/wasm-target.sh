#!/usr/bin/env bash
# Makes cargo able to build for wasm32-unknown-unknown. The last line on stdout is the toolchain argument for cargo,
# empty for the default toolchain; the log goes to stderr. Running it again does nothing.
#   1. The default toolchain has the target already.
#   2. rustup adds it. WASM_NO_RUSTUP=1 leaves this out, for machines that reach no more than package registries.
#   3. Debian's rustc-web, cargo-web and rust-web-src: std is built once into a private sysroot, which becomes the rustup
#      toolchain "wasm-deb". The compiler is Debian's own, so no version is written here. WASM_FORCE_DEBIAN=1 goes here at once.
set -euo pipefail

TARGET=wasm32-unknown-unknown
TOOLCHAIN=${WASM_TOOLCHAIN_NAME:-wasm-deb}
CACHE=${WASM_SYSROOT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/wasm-sysroot}
# Raised when the layout of the sysroot changes, so that an old one is not taken for a new one.
LAYOUT=3

log() { echo "  $*" >&2; }
fail() { log "$1"; log "remedy: $2"; exit 1; }

has_target() {
  local sysroot
  sysroot=$("$@" --print sysroot 2>/dev/null) && compgen -G "$sysroot/lib/rustlib/$TARGET/lib/libstd-*.rlib" >/dev/null
}

if [ -z "${WASM_FORCE_DEBIAN:-}" ] && command -v rustc >/dev/null && has_target rustc; then
  log "the default Rust toolchain has $TARGET"
  echo ""
  exit 0
fi
if [ -z "${WASM_FORCE_DEBIAN:-}${WASM_NO_RUSTUP:-}" ] && command -v rustup >/dev/null; then
  log "rustup target add $TARGET"
  if timeout 120 rustup target add $TARGET >/dev/null 2>&1 && has_target rustc; then
    echo ""
    exit 0
  fi
  log "rustup cannot provide it; trying the distribution's packages"
fi

command -v apt-get >/dev/null || fail "$TARGET is missing" "run: rustup target add $TARGET"
SUDO=
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || fail "packages must be installed and there is no sudo" "as root: apt-get install rustc-web cargo-web rust-web-src lld"
  SUDO=sudo
fi
installed() { [ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null || true)" = "ii " ]; }
install_packages() {
  log "apt-get install $*"
  DEBIAN_FRONTEND=noninteractive $SUDO apt-get install -y -qq --no-install-recommends "$@" >&2
}

missing=()
for package in rustc-web cargo-web rust-web-src; do installed $package || missing+=("$package"); done
if [ ${#missing[@]} -gt 0 ]; then
  $SUDO apt-get update -qq >&2 || log "apt-get update failed; going on with the lists that are there"
  install_packages "${missing[@]}" || fail "the packages cannot be installed" "check the network and run: $SUDO apt-get install ${missing[*]}"
fi

RUSTC=/usr/bin/rustc
CARGO=/usr/bin/cargo
[ -x $RUSTC ] && [ -x $CARGO ] || fail "the distribution's compiler is not in /usr/bin" "apt-get install --reinstall rustc-web cargo-web"

# The linker of the compiler's own LLVM release fits best; any newer one does.
LLVM=$($RUSTC -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
pick_linker() {
  if [ -x "/usr/bin/wasm-ld-$LLVM" ]; then echo "/usr/bin/wasm-ld-$LLVM"; return; fi
  local newest bundled
  newest=$(compgen -G '/usr/bin/wasm-ld-*' | sort -V | tail -1 || true)
  if [ -n "$newest" ]; then echo "$newest"; return; fi
  bundled=$(rustc --print sysroot 2>/dev/null)/lib/rustlib/$($RUSTC -vV | sed -n 's/^host: //p')/bin/rust-lld
  if [ -x "$bundled" ]; then echo "$bundled"; fi
}
[ -n "$(pick_linker)" ] || install_packages "lld-$LLVM" || install_packages lld || true
LINKER=$(pick_linker)
[ -n "$LINKER" ] || fail "no linker for wasm" "apt-get install lld"

VERSION=$($RUSTC -vV | sed -n 's/^release: //p')
HOST=$($RUSTC -vV | sed -n 's/^host: //p')
REAL=$($RUSTC --print sysroot)
KEY=$(printf '%s|%s|%s' "$(dpkg-query -W -f '${Version}' rustc-web)" "$(dpkg-query -W -f '${Version}' rust-web-src)" $LAYOUT | sha256sum | cut -c1-12)
SYSROOT=$CACHE/$VERSION-$KEY

if [ ! -e "$SYSROOT/.ok" ]; then
  log "building std $VERSION for $TARGET once, about two minutes"
  WORK=$(mktemp -d)
  trap 'rm -rf "$WORK"' EXIT
  mkdir -p "$WORK/src"
  : >"$WORK/src/lib.rs"
  cat >"$WORK/Cargo.toml" <<'TOML'
[package]
name = "seed"
version = "0.0.0"
edition = "2021"
[lib]
crate-type = ["rlib"]
[profile.release]
lto = "off"
opt-level = 3
codegen-units = 16
debug = false
TOML
  build_std() { $CARGO build -q -Zbuild-std=std,panic_abort,panic_unwind,test,proc_macro --target $TARGET --release "$@" >&2; }
  (
    cd "$WORK"
    unset CARGO_ENCODED_RUSTFLAGS RUSTUP_TOOLCHAIN RUSTC_WRAPPER CARGO_TARGET_DIR CARGO_BUILD_TARGET
    # Bitcode, so that link-time optimisation reaches into std.
    export RUSTC RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Cembed-bitcode=yes
    # The source package carries its lock file and its crates, so no network is needed.
    build_std --offline || build_std
  ) || fail "std cannot be built" "see the compiler's message above; WASM_SYSROOT_CACHE names another place if $CACHE cannot be written"
  rm -rf "$SYSROOT.tmp"
  mkdir -p "$SYSROOT.tmp/bin" "$SYSROOT.tmp/lib/rustlib/$TARGET/lib"
  cp "$WORK/target/$TARGET"/release/deps/*.rlib "$SYSROOT.tmp/lib/rustlib/$TARGET/lib/"
  rm -f "$SYSROOT.tmp/lib/rustlib/$TARGET/lib"/libseed-*
  # The rest of the real sysroot by links.
  ln -s "$REAL/lib/rustlib/$HOST" "$SYSROOT.tmp/lib/rustlib/$HOST"
  for part in etc src; do
    if [ -e "$REAL/lib/rustlib/$part" ]; then ln -s "$REAL/lib/rustlib/$part" "$SYSROOT.tmp/lib/rustlib/$part"; fi
  done
  printf '#!/bin/sh\nexec %s --sysroot %s "$@"\n' $RUSTC "$SYSROOT" >"$SYSROOT.tmp/bin/rustc"
  # cargo with this compiler and linker, so that no configuration has to name them.
  printf '#!/bin/sh\nexport RUSTC=%s/bin/rustc\n: "${CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER:=%s}"\nexport CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER\nexec %s "$@"\n' \
    "$SYSROOT" "$LINKER" $CARGO >"$SYSROOT.tmp/bin/cargo"
  if [ -x /usr/bin/rustdoc ]; then printf '#!/bin/sh\nexec /usr/bin/rustdoc --sysroot %s "$@"\n' "$SYSROOT" >"$SYSROOT.tmp/bin/rustdoc"; fi
  chmod +x "$SYSROOT.tmp"/bin/*
  : >"$SYSROOT.tmp/.ok"
  rm -rf "$SYSROOT"
  mv "$SYSROOT.tmp" "$SYSROOT"
fi

command -v rustup >/dev/null || fail "cargo can only choose the toolchain by rustup" "install Rust with rustup"
linked=$(rustup run "$TOOLCHAIN" sh -c 'command -v rustc' 2>/dev/null || true)
if [ "$(readlink -f "$linked" 2>/dev/null || true)" != "$(readlink -f "$SYSROOT/bin/rustc")" ]; then rustup toolchain link "$TOOLCHAIN" "$SYSROOT" >&2; fi
log "toolchain $TOOLCHAIN: $("$SYSROOT/bin/rustc" --version)"
echo "+$TOOLCHAIN"
