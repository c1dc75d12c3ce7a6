# module: torch.cuda
# defines: device device_of
import torch


class device:
    """makes a device the current one"""

    def __init__(self, device):
        self.device = device

    def __enter__(self):
        self.before = torch.cuda.current_device()
        if self.device is not None:
            torch.cuda.set_device(self.device)

    def __exit__(self, *error):
        torch.cuda.set_device(self.before)
        return False


class device_of(device):
    def __init__(self, obj):
        super().__init__(obj.device if obj.is_cuda else None)
