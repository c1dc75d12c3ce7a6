import torch


class _Driver:
    """the device's side of timing kernels. Source: docs/rules/triton.md."""

    def get_current_device(self):
        return torch.cuda.current_device()

    def get_current_target(self):
        major, minor = torch.cuda.get_device_capability()
        return _Target("cuda", 10 * major + minor, 32)

    def get_device_interface(self):
        return torch.cuda

    def get_empty_cache_for_benchmark(self):
        """what is cleared before each run, so that nothing is left in the L2 cache"""
        return torch.empty((256 << 20) // 4, dtype=torch.int, device="cuda")

    def clear_cache(self, cache):
        cache.zero_()

    class utils:
        """what is asked about a device"""

        @staticmethod
        def get_device_properties(device):
            about = torch.cuda.get_device_properties(device)
            return {
                "multiprocessor_count": about.multi_processor_count,
                "max_shared_mem": about.shared_memory_per_block_optin,
                "max_num_regs": about.regs_per_multiprocessor,
                "warpSize": about.warp_size,
            }


class _Target:
    def __init__(self, backend, arch, warp_size):
        self.backend, self.arch, self.warp_size = backend, arch, warp_size


active = _Driver()
