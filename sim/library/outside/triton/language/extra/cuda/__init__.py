from triton.language.core import _only_in_kernels
from triton.language.extra.cuda import libdevice

globaltimer = num_threads = num_warps = smid = gdc_wait = gdc_launch_dependents = _only_in_kernels
