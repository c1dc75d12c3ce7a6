"""Models of a hub that are known by name, laid out as the hub's library keeps them in its cache.

A run has no network. A repository whose configuration stands in a table here, or whose name says its architecture
(timm's), has files that nobody wrote: the configuration, and weights. Weights have the names and shapes of the model
itself. A repository in a cache on the host, which the user names, comes first.
"""
import json

import _files
import _tidemark
import torch

_REVISION = "0123456789abcdef0123456789abcdef01234567"
_answers = {}  # folder of a repository: whether it is known


class Weights:
    """what a file of weights has, found out when it is opened"""

    def __init__(self, make, dtype):
        self._make, self._dtype, self._content = make, dtype, None

    def _whole(self):
        if self._content is None:
            from safetensors.torch import content_of

            random = torch.get_rng_state()
            model = self._make()
            torch.set_rng_state(random)
            # Of weights that are tied, each has its first name alone.
            names = {name for name, _ in [*model.named_parameters(), *model.named_buffers()]}
            tensors = {}
            for name, tensor in model.state_dict().items():
                if name in names:
                    dtype = self._dtype if self._dtype and tensor.is_floating_point() else tensor.dtype
                    tensors[name] = torch.empty(tensor.shape, dtype=dtype, device="meta")
            self._content = content_of(tensors, {"format": "pt"})
        return self._content

    @property
    def tensors(self):
        return self._whole().tensors

    @property
    def metadata(self):
        return self._whole().metadata

    def __len__(self):
        return len(self._whole())


def _of_timm(name):
    """timm/vit_base_patch16_224.augreg_in21k: the architecture, and which weights"""
    import timm

    architecture = name.partition(".")[0]
    if not timm.is_model(architecture):
        return None
    tag = name.partition(".")[2]
    cfg = timm.get_pretrained_cfg(name) or timm.get_pretrained_cfg(architecture)
    classes = cfg.num_classes if cfg is not None and cfg.num_classes is not None else 1000
    weights = Weights(lambda: timm.create_model(architecture, num_classes=classes), None)
    return {
        "config.json": [json.dumps({"architecture": architecture, "num_classes": classes, "tag": tag})],
        "model.safetensors": [weights],
    }


def _of_transformers(config):
    import transformers

    def make():
        own, name = transformers.AutoConfig.for_model(**config), config["architectures"][0]
        if name == "StableDiffusionSafetyChecker":
            from diffusers.pipelines.stable_diffusion.safety_checker import StableDiffusionSafetyChecker as kind
        else:
            kind = getattr(transformers, name)
        with torch.device("meta"):
            return kind(own)

    from _known_hub import inputs, tokens

    dtype = getattr(torch, config.get("dtype", "float32"))
    own = {"config.json": [json.dumps(config)], "model.safetensors": [Weights(make, dtype)]}
    return inputs.files_of(config) | tokens.files_of(config) | own


def _of_diffusers(folder, config):
    import diffusers

    begin = folder + "/" if folder else ""
    if "Scheduler" in config["_class_name"]:
        return {begin + "scheduler_config.json": [json.dumps(config)]}

    def make():
        with torch.device("meta"):
            return getattr(diffusers, config["_class_name"]).from_config(config)

    weights = Weights(make, torch.float32)
    return {
        begin + "config.json": [json.dumps(config)],
        begin + "diffusion_pytorch_model.safetensors": [weights],
    }


def _files_of(repository):
    owner, _, name = repository.rpartition("/")
    if owner == "timm":
        return _of_timm(name)
    from _known_hub.names import found

    parts = found(repository)
    if parts is None:
        return None
    out = {}
    for folder, config in parts.items():
        if folder.endswith(".json"):
            out[folder] = [json.dumps(config)]
        elif "_class_name" in config:
            out |= _of_diffusers(folder, config)
        else:
            for name, content in _of_transformers(config).items():
                if folder and ("token" in name or "preprocessor" in name):  # a pipeline has folders for them
                    if "token" in name and "text_encoder" in folder:
                        out[folder.replace("text_encoder", "tokenizer") + "/" + name] = content
                else:
                    out[(folder + "/" if folder else "") + name] = content
    return out


def described(repository):
    """What the hub's server says of a repository; None: it is not known."""
    files = _files_of(repository)
    if files is None:
        return None
    return {
        "id": repository, "modelId": repository, "sha": _REVISION, "private": False, "tags": [], "downloads": 0,
        "likes": 0, "siblings": [{"rfilename": name} for name in sorted(files)],
    }  # fmt: skip


def has(path):
    """Whether the path lies in a known repository's folder, whose files are then there."""
    begin, _, rest = path.partition("models--")
    folder = begin + "models--" + rest.partition("/")[0]
    if folder not in _answers:
        _answers[folder] = False  # while the libraries are asked
        repository = rest.partition("/")[0].replace("--", "/")
        files = None if _tidemark.has_folder(folder) else _files_of(repository)
        if files is not None:
            _tidemark.note(
                f"weights are not downloaded: those of {repository} are taken to have the shapes of the model, and its "
                "configuration is Tidemark's own record (docs/libraries.md)"
            )
            snapshot = f"{folder}/snapshots/{_REVISION}"
            contents = {f"{folder}/refs/main": [_REVISION]} | {f"{snapshot}/{n}": each for n, each in files.items()}
            for name, content in contents.items():
                _files.make_folder(name.rpartition("/")[0])
                _files.keep(name, content)
            _answers[folder] = True
    begin, mark, name = path.partition(f"/.no_exist/{_REVISION}/")
    if _answers[folder] and mark and f"{begin}/snapshots/{_REVISION}/{name}" not in _files.files:
        _files.keep(path, [""])  # so the cache knows that the hub has no such file
    return _answers[folder]
