import torch

git_version, hip, xpu, debug = "unknown", None, None, False
cuda, __version__ = torch._C.cuda_version(), torch.__version__
