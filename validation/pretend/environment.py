#!/usr/bin/env python3
"""Makes, or finds, a Python with the real PyTorch on the pretend GPU.

    environment.py DIR [--torch 2.11.0]     DIR gets v/ (a virtual environment), stubs/ (the pretend CUDA made for its PyTorch) and
                                            run (its Python on the two)
    environment.py DIR --python PYTHON      the same over a PyTorch that is there already: nothing is installed

Needs g++, Python 3 with venv and pip, about 3 GB of disk and two minutes. CUDA's headers are taken from CUDA_HOME, /usr/local/cuda or
the packages that NVIDIA publishes for pip, whichever has the version that this PyTorch was built with.
Exit codes: 0 done, 4 something is missing; what, and what to do.
"""
import argparse
import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import stubs  # noqa: E402

DEFAULT_TORCH = "2.11.0"
OLDEST, NEWEST = (2, 4), (2, 15)
BESIDE_TORCH = ["numpy", "filelock", "typing-extensions", "sympy", "networkx", "jinja2", "fsspec"]
HEADER_PACKAGES = {  # by CUDA's major version; the first ones must match it, the others only be near
    13: (["nvidia-cuda-runtime", "nvidia-cuda-crt"],
         ["nvidia-cublas", "nvidia-cudnn-cu13", "nvidia-nccl-cu13", "nvidia-cuda-nvrtc", "nvidia-cusolver", "nvidia-cusparse", "nvidia-cufft"]),
    12: (["nvidia-cuda-runtime-cu12", "nvidia-cuda-nvcc-cu12"],
         ["nvidia-cublas-cu12", "nvidia-cudnn-cu12", "nvidia-nccl-cu12", "nvidia-cuda-nvrtc-cu12", "nvidia-cusolver-cu12",
          "nvidia-cusparse-cu12", "nvidia-cufft-cu12"]),
}
NEEDED_HEADERS = ["cublas_v2.h", "cublasLt.h", "cudnn.h", "nccl.h", "nvrtc.h"]


class Missing(Exception):
    """what an environment needs and this machine has not; says what to do"""


def run(*words, **keywords):
    done = subprocess.run([str(w) for w in words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **keywords)
    if done.returncode:
        raise Missing("%s failed:\n%s" % (" ".join(str(w) for w in words), "\n".join(done.stdout.splitlines()[-12:])))
    return done.stdout


def check_release(torch):
    """before anything is fetched. Errors: Missing."""
    found = re.fullmatch(r"(\d+)\.(\d+)(\.\d+)?", torch)
    if not found or not OLDEST <= (int(found.group(1)), int(found.group(2))) <= NEWEST:
        raise Missing("'%s' is no release of PyTorch from 2.%d.0 to 2.%d.0; nothing was installed" % (torch, OLDEST[1], NEWEST[1]))


def make_python(folder, torch, say):
    python = folder / "v" / "bin" / "python"
    say("installing PyTorch %s into %s" % (torch, folder / "v"))
    failures = []
    for candidate in dict.fromkeys(filter(None, [sys.executable, shutil.which("python3"), shutil.which("python")])):
        try:
            run(candidate, "-m", "venv", "--clear", folder / "v")
            break
        except Missing as error:
            failures.append(str(error))
    else:
        raise Missing("Python's venv does not work here (Debian: apt install python3-venv)\n%s" % failures[0])
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    try:
        # Without NVIDIA's wheels nothing lies on the RPATH of PyTorch's libraries, so that the pretend ones are found.
        run(*pip, "--no-deps", "torch==" + torch)
        run(*pip, *BESIDE_TORCH)
    except Missing as error:
        raise Missing("PyTorch %s could not be installed; without a network, make DIR elsewhere and copy it, or give --python\n%s"
                      % (torch, error)) from None
    return python


def torch_folder(python):
    """where PyTorch lies, and its version. It is not imported: without its CUDA libraries it could not be"""
    code = "import importlib.util as u, importlib.metadata as m; print(u.find_spec('torch').submodule_search_locations[0]); print(m.version('torch'))"
    try:
        place, version = run(python, "-c", code).split("\n")[:2]
    except Missing:
        raise Missing("%s has no PyTorch: %s -m pip install --no-deps torch==%s" % (python, python, DEFAULT_TORCH)) from None
    release = tuple(int(n) for n in re.match(r"(\d+)\.(\d+)", version).groups())
    if not OLDEST <= release <= NEWEST:
        raise Missing("PyTorch %s is outside 2.%d to 2.%d" % (version, OLDEST[1], NEWEST[1]))
    if not (pathlib.Path(place) / "lib" / "libtorch_cuda.so").exists():
        raise Missing("the PyTorch %s in %s is built without CUDA; install PyPI's own (torch==%s, no +cpu)" % (version, place, DEFAULT_TORCH))
    return pathlib.Path(place), version


def torch_libraries(place):
    names = ["libc10_cuda", "libtorch_cuda", "libtorch_cuda_linalg", "libtorch_python", "libcaffe2_nvrtc", "libtorch_cpu",
             "libtorch_global_deps", "libtorch_nvshmem"]
    return [str((place / "lib" / (n + ".so")).resolve()) for n in names if (place / "lib" / (n + ".so")).exists()]


def cuda_version(include):
    """CUDART_VERSION of a folder of headers, 0 where there are none"""
    header = pathlib.Path(include) / "cuda_runtime_api.h"
    found = re.search(r"#define CUDART_VERSION\s+(\d+)", header.read_text(errors="replace")) if header.exists() else None
    return int(found.group(1)) if found else 0


def toolkit():
    for home in (os.environ.get("CUDA_HOME"), "/usr/local/cuda", "/opt/cuda"):
        if home and cuda_version(os.path.join(home, "include")):
            return pathlib.Path(home)
    return None


def fetch_headers(python, folder, packages, version, say):
    """the include folders of NVIDIA's packages, nothing else of them, into `folder`"""
    for package in packages:
        say("fetching the headers of %s" % package)
        with tempfile.TemporaryDirectory() as scratch:
            run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--target", scratch, package + version)
            for include in glob.glob(scratch + "/nvidia/*/include"):
                shutil.copytree(include, folder, dirs_exist_ok=True)


def headers(python, folder, major, say):
    """folders with CUDA's headers for a PyTorch of CUDA `major`, the matching ones first"""
    home = toolkit()
    places = [home / "include"] if home else []
    if home and cuda_version(places[0]) // 1000 == major:
        own = places
    else:
        if major not in HEADER_PACKAGES:
            raise Missing("this PyTorch wants CUDA %d; 12 and 13 are known" % major)
        own = [folder / "headers"]
        if cuda_version(own[0]) // 1000 != major:
            fetch_headers(python, own[0], HEADER_PACKAGES[major][0], "<%d" % (major + 1) if major == 13 else "", say)
    have = own + [p for p in places if p not in own]
    if not all(any((p / h).exists() for p in have) for h in NEEDED_HEADERS):
        fetch_headers(python, folder / "headers", HEADER_PACKAGES[major][1], "", say)
        have = own + [folder / "headers"] + [p for p in places if p not in own]
    return [str(p) for p in dict.fromkeys(have)]


def make(folder, torch=DEFAULT_TORCH, python=None, say=print):
    """Makes the environment where it is not there yet, and returns its program `run`. Errors: Missing."""
    folder = pathlib.Path(folder).expanduser().absolute()
    program = folder / "run"
    if program.exists():
        return program
    if not sys.platform.startswith("linux"):
        raise Missing("the pretend GPU needs Linux; on Windows run it under WSL 2")
    if not python:
        check_release(torch)
    if not shutil.which("g++"):
        raise Missing("g++ is needed to make the pretend CUDA (Debian: apt install g++)")
    folder.mkdir(parents=True, exist_ok=True)
    python = pathlib.Path(shutil.which(str(python)) or python) if python else make_python(folder, torch, say)
    place, version = torch_folder(python)
    libraries = torch_libraries(place)
    cudart = next((n for lib in libraries for n in stubs.needed(lib) if n.startswith("libcudart.so")), None)
    if not cudart:
        raise Missing("PyTorch %s in %s asks for no libcudart" % (version, place))
    include = headers(python, folder, int(cudart.split(".")[2]), say)
    home = toolkit()
    real = [("libcuda.so.1", home / "lib64" / "stubs" / "libcuda.so"), (cudart, home / "lib64" / cudart)] if home else []
    say("making the pretend CUDA for PyTorch %s" % version)
    try:
        stubs.build(str(folder / "stubs"), include, cudart, libraries, [(s, str(lib)) for s, lib in real if lib.exists()], say=lambda line: None)
    except stubs.BuildFailed as error:
        raise Missing("the pretend CUDA could not be built: %s" % error) from None
    # With NVIDIA's wheels installed their libraries lie on PyTorch's RPATH: the pretend ones are loaded before them.
    preload = ":".join(sorted(glob.glob(str(folder / "stubs" / "lib*.so*")))) if list(place.parent.glob("nvidia/*/lib")) else ""
    text = '#!/bin/sh\nLD_LIBRARY_PATH="%s"%s exec "%s" "$@"\n' % (folder / "stubs", ' LD_PRELOAD="%s"' % preload if preload else "", python)
    program.write_text(text)
    program.chmod(0o755)
    return program


def main():
    parser = argparse.ArgumentParser(prog="environment.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="DIR")
    parser.add_argument("--torch", default=DEFAULT_TORCH, help="the release, %s when not given" % DEFAULT_TORCH)
    parser.add_argument("--python", help="a Python that has PyTorch")
    options = parser.parse_args()
    try:
        program = make(options.folder, options.torch, options.python)
    except Missing as error:
        print("error: %s" % error, file=sys.stderr)
        return 4
    print("ready: %s" % program)
    return 0


if __name__ == "__main__":
    sys.exit(main())
