import _tidemark
import os
import re
from urllib.parse import urlparse

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")
_folder = [None]


def _get_torch_home():
    return os.path.join(os.environ._values.get("XDG_CACHE_HOME", "~/.cache"), "torch")


def get_dir():
    return _folder[0] or os.path.join(_get_torch_home(), "hub")


def set_dir(d):
    _folder[0] = d


load, load_state_dict_from_url, download_url_to_file = [
    _tidemark.later("torch.hub." + n) for n in ("load", "load_state_dict_from_url", "download_url_to_file")
]
