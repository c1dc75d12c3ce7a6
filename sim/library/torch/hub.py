import os
import re

import _tidemark
import torch
import torch._C as _C
from urllib.parse import urlparse

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")
_folder = [None]


def _get_torch_home():
    return os.path.join(os.environ._values.get("XDG_CACHE_HOME", "~/.cache"), "torch")


def get_dir():
    return _folder[0] or os.path.join(_get_torch_home(), "hub")


def set_dir(d):
    _folder[0] = d


class UnreadWeights(dict):
    """Weights that a run does not download: a module that loads them finds its own names and shapes."""

    def fill(self, module):
        for name, tensor in module.state_dict().items():
            self[name] = torch.empty_like(tensor, device="cpu")


def load_state_dict_from_url(
    url, model_dir=None, map_location=None, progress=True, check_hash=False, file_name=None, weights_only=False
):
    if map_location is not None and (callable(map_location) or torch.device(map_location).type != "cpu"):
        _C.refuse(
            "torch.hub.load_state_dict_from_url() onto a device is not modelled",
            "load onto the host: map_location='cpu'",
        )
    _tidemark.note(f"weights are not downloaded: {url} is taken to fit the model that loads it")
    return UnreadWeights()


def list(github, force_reload=False, skip_validation=False, trust_repo=None, verbose=True):
    _tidemark.note(f"no network: the models of {github} are taken to be none")
    return []


load, download_url_to_file = [_tidemark.later("torch.hub." + n) for n in ("load", "download_url_to_file")]
