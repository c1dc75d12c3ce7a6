"""Which table knows a repository of the hub."""
import re

_OLD_OWNERS = {
    "google-bert": r"bert-.*",
    "openai-community": r"(openai-)?gpt2?(-.*)?",
    "FacebookAI": r"(xlm-)?roberta-.*",
    "distilbert": r"distil.*",
    "google-t5": r"t5-.*",
    "albert": r"albert-.*",
    "xlnet": r"xlnet-.*",
}


def found(repository):
    """The configurations of a repository by their folders; None: it is in no table."""
    from _known_hub import decoders, diffusion, encoders, media

    name = repository
    owner, _, rest = name.rpartition("/")
    if owner in _OLD_OWNERS and re.fullmatch(_OLD_OWNERS[owner], rest):
        name = rest
    for table in (encoders, decoders, media):
        if name in table.MODELS:
            return {"": table.MODELS[name]}
    return diffusion.MODELS.get(name)
