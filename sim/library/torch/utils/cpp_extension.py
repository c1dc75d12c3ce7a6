"""Nothing is compiled here: a program goes on as where there is no ninja."""
import _tidemark

CUDA_HOME = None
ROCM_HOME = None
IS_HIP_EXTENSION = False


def is_ninja_available():
    return False


def verify_ninja_availability():
    raise RuntimeError("Ninja is required to load C++ extensions (pip install ninja to get it)")


def load(name, sources, *args, **kwargs):
    _tidemark.note(f"torch.utils.cpp_extension: {name!r} is not compiled; the program goes on as without ninja")
    verify_ninja_availability()


def load_inline(name, cpp_sources, *args, **kwargs):
    load(name, cpp_sources)


def include_paths(device_type="cpu"):
    return []


def library_paths(device_type="cpu"):
    return []
