"""One program to run on both sides, and its form as a scenario file."""

import dataclasses
import json

BACKENDS = {"cudnn_sdp": False}  # the pretend cuDNN has no attention plans


@dataclasses.dataclass
class Case:
    """`code` defines make(), which gives the model on the host; `loop` is the rest of the program."""

    code: str
    loop: str
    device: str = "h100-sxm-80gb"
    total: int = 0  # bytes of the device; 0: its own
    fraction: float = 0.0  # set_per_process_memory_fraction; 0: none
    conf: str = ""
    backends: dict = dataclasses.field(default_factory=dict)
    name: str = ""
    pytorch: str = "2.11"  # the release whose rules Tidemark follows
    host_random: bool = False  # the loop draws random numbers of the host

    def size(self):
        """what shrinking makes smaller: lines first, then characters, then settings"""
        text = self.code + self.loop
        settings = bool(self.total) + bool(self.fraction) + bool(self.conf) + len(self.backends)
        return text.count("\n"), len(text), settings

    def scenario(self):
        """the text of the scenario that Tidemark runs"""
        device = json.dumps(self.device)
        if self.total:
            device = "{name: %s, total: %d}" % (device, self.total)
        allocator = "{conf: %s" % json.dumps(self.conf)
        if self.fraction:
            allocator += ", memory_fraction: %r" % self.fraction
        backends = ", ".join("%s: %s" % (k, json.dumps(v)) for k, v in {**BACKENDS, **self.backends}.items())
        lines = ["schema_version: 1"]
        if self.name:
            lines.append("name: " + json.dumps(self.name))
        lines += ["device: " + device, "pytorch: " + json.dumps(self.pytorch), "allocator: " + allocator + "}", "backends: {%s}" % backends,
                  "model:", "  code: |"]
        lines += _indented(self.code, 4) + ["  function: make", "loop: |"] + _indented(self.loop, 2)
        return "\n".join(lines) + "\n"


def _indented(text, by):
    return [" " * by + line if line.strip() else "" for line in text.rstrip().splitlines()]


def _flow(text):
    """a value of the one-line form that scenario() writes: JSON but for unquoted keys"""
    text = text.strip()
    if not text.startswith("{"):
        return json.loads(text)
    inner = text[1:-1].strip()
    return {key.strip(): json.loads(value) for key, value in (part.split(":", 1) for part in _parts(inner))} if inner else {}


def _parts(text):
    parts, begin, quoted = [], 0, False
    for i, letter in enumerate(text):
        if letter == '"':
            quoted = not quoted
        elif letter == "," and not quoted:
            parts.append(text[begin:i])
            begin = i + 1
    return parts + [text[begin:]]


def read_scenario(text):
    """the case of a scenario that scenario() wrote"""
    case, block = Case("", ""), None
    blocks = {"code": [], "loop": []}
    for line in text.splitlines():
        if block and (not line.strip() or line.startswith("    " if block == "code" else "  ")) and "function: make" not in line:
            blocks[block].append(line[4 if block == "code" else 2:])
            continue
        block = None
        key, _, value = line.strip().partition(":")
        if value.strip() == "|":
            block = key
        elif key == "name":
            case.name = json.loads(value)
        elif key == "pytorch":
            case.pytorch = json.loads(value)
        elif key == "device":
            given = _flow(value)
            case.device, case.total = (given, 0) if isinstance(given, str) else (given["name"], given.get("total", 0))
        elif key == "allocator":
            given = _flow(value)
            case.conf, case.fraction = given.get("conf", ""), given.get("memory_fraction", 0.0)
        elif key == "backends":
            case.backends = {k: v for k, v in _flow(value).items() if BACKENDS.get(k) != v}
    case.code, case.loop = ("\n".join(lines).rstrip() + "\n" for lines in blocks.values())
    return case
