#!/bin/sh
# One archive for a machine with a GPU and no network: package.sh OUT.tar.gz PLAN...
#
# PLAN: files of `tidemark plan`. The archive holds the harness and the probe (CUDA runtime and C++ library inside, for compute
# capability 7.5 to 10.0), the plans, and the runners for PyTorch. There: tar xf OUT.tar.gz && tidemark-bundle/measure, which needs a driver for
# CUDA 13 (build with another toolkit for an older one) and writes results.tar.gz. Here: package.sh --take results.tar.gz FOLDER, then
# tidemark validate S.yaml --against recorded:FOLDER, tidemark calibrate --device CARD --probe FOLDER/probe.json
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ "${1:-}" = --take ] && [ $# = 3 ]; then
  mkdir -p "$3"
  tar -C "$3" -xzf "$2"
  ls "$3"
  exit 0
fi
if [ $# -lt 2 ]; then
  sed -n 2,9p "$0"
  exit 2
fi
out=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! command -v nvcc >/dev/null && [ -z "${CUDACXX:-}" ]; then
  echo "package.sh: nvcc is not on the PATH; set CUDACXX" >&2
  exit 77
fi
cmake -S "$here/cuda" -B "$work/build" -DCMAKE_BUILD_TYPE=Release ${TIDEMARK_CUDA_FLAGS:-} >"$work/log" || { cat "$work/log" >&2; exit 1; }
cmake --build "$work/build" >"$work/log" || { cat "$work/log" >&2; exit 1; }
bundle=$work/tidemark-bundle
mkdir -p "$bundle/plans" "$bundle/torch"
cp "$work/build/tidemark-cuda" "$work/build/tidemark-probe" "$bundle"
cp "$here"/torch/measured.py "$here"/torch/run_scenario.py "$here"/torch/play_trace.py "$here"/torch/watched.py "$bundle/torch"
for plan; do
  case $plan in
    *.gz) gzip -dc "$plan" >"$bundle/plans/$(basename "$plan" .gz)" ;;
    *) cp "$plan" "$bundle/plans" ;;
  esac
done
cat >"$bundle/measure" <<'END'
#!/bin/sh
# Runs every plan on this machine's GPU, measures the card, and packs what came out.
set -u
cd "$(dirname "$0")"
rm -rf results && mkdir results
./tidemark-probe --out results/probe.json
code=$?
[ $code = 77 ] && { echo "no CUDA device" >&2; exit 77; }
for plan in plans/*; do
  echo "$plan"
  ./tidemark-cuda "$plan" --out results --kernels time || echo "$plan: exit code $?" >>results/failures.txt
done
tar -C results -czf results.tar.gz .
echo "take back: $(pwd)/results.tar.gz"
END
chmod +x "$bundle/measure"
tar -C "$work" -czf "$out" tidemark-bundle
echo "$out: $(($(wc -c <"$out") / 1048576 + 1)) MiB"
