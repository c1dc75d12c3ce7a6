#!/bin/sh
# One archive for a machine with a GPU and no network: package.sh OUT.tar.gz INPUT...
#
# INPUT: scenarios (.yaml), training scripts (.py), request traces (.tmt), or files of `tidemark plan`. The archive holds the harness and the
# probe (CUDA runtime and C++ library inside, for compute capability 7.5 to 10.0), the plans, and what PyTorch is to run. There:
#   tar xf OUT.tar.gz && tidemark-bundle/measure
# which needs a driver, and for PyTorch's part a python3 (or $PYTHON) that has it, and writes results.tar.gz. Here:
#   package.sh --take results.tar.gz FOLDER
#   tidemark validate S.yaml --against recorded:FOLDER/cuda (or recorded:FOLDER/torch)
#   tidemark calibrate --device CARD --probe FOLDER/probe.json
# Environment: TIDEMARK, the program (of the path by default); CUDACXX, nvcc (without one the bundle has PyTorch's part alone); several, apart
# by a colon: one harness for each, of which
# `measure` takes the first that the driver there can run (a runtime of CUDA 13 needs a driver of 580 or later, one of CUDA 12 of 525).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ "${1:-}" = --take ] && [ $# = 3 ]; then
  mkdir -p "$3"
  tar -C "$3" -xzf "$2"
  (cd "$3" && find . -type f | sort)
  exit 0
fi
if [ $# -lt 2 ]; then
  sed -n 2,16p "$0"
  exit 2
fi
out=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
compilers=${CUDACXX:-$(command -v nvcc || true)}
[ -n "$compilers" ] || echo "package.sh: no nvcc (set CUDACXX): the bundle measures inside PyTorch alone, without the harness" >&2
bundle=$work/tidemark-bundle
mkdir -p "$bundle/plans" "$bundle/jobs" "$bundle/traces" "$bundle/torch"
number=0
for compiler in $(echo "$compilers" | tr : ' '); do
  number=$((number + 1))
  build=$work/build$number
  CUDACXX=$compiler cmake -S "$here/cuda" -B "$build" -DCMAKE_BUILD_TYPE=Release ${TIDEMARK_CUDA_FLAGS:-} >"$work/log" 2>&1 &&
    cmake --build "$build" >>"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
  mkdir -p "$bundle/cuda$number"
  cp "$build/tidemark-cuda" "$build/tidemark-probe" "$bundle/cuda$number"
done
cp "$here"/torch/measured.py "$here"/torch/run_scenario.py "$here"/torch/play_trace.py "$here"/torch/probe.py "$bundle/torch"
program=${TIDEMARK:-tidemark}
for input; do
  base=$(basename "$input" .gz)
  name=${base%.*}
  case $base in
    *.yaml | *.yml | *.py) "$program" plan "$input" --out "$bundle/plans/$name.plan" --job "$bundle/jobs/$name.json" ;;
    *.tmt)
      "$program" plan "$input" --out "$bundle/plans/$name.plan"
      cp "$input" "$bundle/traces"
      ;;
    *)
      case $input in
        *.gz) gzip -dc "$input" >"$bundle/plans/$base" ;;
        *) cp "$input" "$bundle/plans" ;;
      esac
      ;;
  esac
done
cat >"$bundle/measure" <<'END'
#!/bin/sh
# Measures this machine's GPU, runs every plan on it and every program and trace under PyTorch, and packs what came out.
set -u
cd "$(dirname "$0")"
rm -rf results && mkdir -p results/cuda results/torch
code=77
python=${PYTHON:-python3}
pytorch=$("$python" -c 'import torch; print(torch.__version__)' 2>/dev/null) || pytorch=
tools=
for each in cuda*; do
  [ -d "$each" ] || continue
  "$each/tidemark-probe" --out results/probe.json --pytorch "$pytorch"
  code=$?
  [ $code = 0 ] && tools=$each && break
done
if [ -n "$pytorch" ]; then  # inside PyTorch the card is as its users have it
  "$python" torch/probe.py results/torch-probe.json
  inside=$?
  [ $inside = 0 ] && mv results/torch-probe.json results/probe.json && code=0
fi
[ $code = 77 ] && { echo "no CUDA device that PyTorch or the harness sees (a driver older than the harness?)" >&2; exit 77; }
[ $code = 0 ] || { echo "the device failed" >&2; exit 1; }
for plan in plans/*; do
  [ -n "$tools" ] && [ -e "$plan" ] || continue
  echo "$plan"
  "$tools/tidemark-cuda" "$plan" --out results/cuda --kernels time || echo "$plan: exit code $?" >>results/failures.txt
done
if "$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
  for job in jobs/*; do
    [ -e "$job" ] || continue
    echo "$job"
    conf=$(sed -n 's/^conf //p' "plans/$(basename "$job" .json).plan" | head -n 1)
    PYTORCH_CUDA_ALLOC_CONF=$conf PYTHONHASHSEED=0 "$python" torch/run_scenario.py results/torch "$job" || echo "$job: exit code $?" >>results/failures.txt
  done
  for trace in traces/*; do
    [ -e "$trace" ] || continue
    echo "$trace"
    "$python" torch/play_trace.py "$trace" results/torch || echo "$trace: exit code $?" >>results/failures.txt
  done
else
  echo "$python has no PyTorch that sees the GPU: its part is left out" | tee -a results/failures.txt
fi
tar -C results -czf results.tar.gz .
echo "take back: $(pwd)/results.tar.gz"
END
chmod +x "$bundle/measure"
tar -C "$work" -czf "$out" tidemark-bundle
echo "$out: $(($(wc -c <"$out") / 1048576 + 1)) MiB"
