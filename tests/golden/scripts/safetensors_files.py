"""Tensors that a program keeps in files and takes back: names in the order of the file, onto the device, into a model."""
import torch
from safetensors import safe_open
from safetensors.torch import load_file, load_model, save_file, save_model

kinds = dict(z=torch.float32, b=torch.bfloat16, c=torch.int64, d=torch.float16, e=torch.uint8, f=torch.bool, g=torch.float64,
             h=torch.int32, i=torch.int16, j=torch.int8, a=torch.float32, m=torch.complex64)
save_file({name: torch.zeros(i + 3, 1000, dtype=kind) for i, (name, kind) in enumerate(kinds.items())}, "x.safetensors", metadata={"format": "pt"})
with safe_open("x.safetensors", "pt") as file:
    print(file.keys(), file.metadata(), file.get_slice("z").get_shape(), file.get_slice("b").get_dtype())
    part = file.get_slice("c")[1:, :10].cuda()
    whole = file.get_tensor("h").to("cuda", torch.float32)
print(list(load_file("x.safetensors")), part.shape, whole.dtype)
held = load_file("x.safetensors", device="cuda")
print(sum(tensor.numel() for tensor in held.values()))

tied = torch.nn.Module()
tied.first = torch.nn.Linear(300, 300)
tied.second = tied.first
tied.third = torch.nn.Linear(300, 200)
tied.cuda()
save_model(tied, "tied.safetensors")
print(list(load_file("tied.safetensors")), load_model(tied, "tied.safetensors", device="cuda:0"))
tied.third(tied.second(torch.randn(5, 300, device="cuda"))).sum().backward()

for wrong in (lambda: save_file({"a": torch.zeros(4, 4).t()}, "y"), lambda: save_file([1], "y"), lambda: safe_open("nope", "pt"),
              lambda: safe_open("x.safetensors", "pt").get_tensor("zz"), lambda: save_file(tied.state_dict(), "y")):
    try:
        wrong()
    except Exception as error:
        print(type(error).__name__, str(error).strip()[:40])
