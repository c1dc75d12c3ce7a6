# Sourced by tools/setup, tools/test and .ci/*: the Debian 12 packages of each purpose, and how they are installed.
# shellcheck shell=sh disable=SC2034
RUN_PACKAGES='g++ cmake ninja-build libfmt-dev zlib1g-dev libyaml-cpp-dev libboost-dev libboost-graph-dev
  libboost-program-options-dev libpcre2-dev libsqlite3-dev python3 python3-matplotlib python3-pip'
TEST_PACKAGES='catch2 libbenchmark-dev git python3-yaml python3-jsonschema zsh fish'
PACK_PACKAGES='file dpkg-dev'
CI_PACKAGES='clang clang-format libclang-rt-14-dev chromium'
FULL_PACKAGES='clang-tidy openmpi-bin python3-dev python3-venv snakemake'

# Installs those of "$@" that are missing; says what to do when it may not.
install_packages() {
  missing=''
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
  done
  [ -z "$missing" ] && return 0
  as_root=''
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || {
      echo "missing packages; as root: apt-get install$missing" >&2
      exit 4
    }
    as_root=sudo
  fi
  export DEBIAN_FRONTEND=noninteractive
  $as_root apt-get update -qq
  # shellcheck disable=SC2086  # a list of words
  $as_root apt-get install -y -qq --no-install-recommends $missing
}
