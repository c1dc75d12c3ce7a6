import torch

cuda, git_version, hip, xpu, debug, __version__ = torch._C.cuda_version(), "unknown", None, None, False, torch.__version__
