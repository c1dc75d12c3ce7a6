"""The old classes of tensors, as types in unions; modules that classes give themselves."""
import torch, typing, types
a = torch.LongTensor | None
print(a, type(a))
print(None | torch.cuda.FloatTensor, int | torch.FloatTensor, torch.LongTensor | torch.Tensor)
print(isinstance(torch.LongTensor, type), type(torch.LongTensor))
print(typing.Optional[torch.LongTensor], typing.get_args(a))
print(torch.Tensor | None, torch.nn.Parameter | None, torch.dtype | None)
from dataclasses import dataclass, fields
@dataclass
class A:
    x: torch.LongTensor | None = None
    y: "torch.FloatTensor | None" = None
print([f.type for f in fields(A)])
x = torch.LongTensor([1, 2, 3])
print(isinstance(x, torch.LongTensor), isinstance(x, torch.FloatTensor), x.type(), torch.LongTensor, torch.cuda.HalfTensor, torch.LongTensor.__name__)
print(torch.FloatTensor(2, 3).shape, x.type(torch.FloatTensor).dtype, x.type("torch.DoubleTensor").dtype, torch.LongTensor.dtype)
class B(torch.nn.Module):
    def forward(self, ids: torch.LongTensor | None = None) -> torch.FloatTensor: return ids
import inspect
print(inspect.signature(B.forward))
print({torch.LongTensor: 1}[torch.LongTensor], torch.LongTensor == torch.LongTensor, torch.FloatTensor in (torch.FloatTensor,))
class A:
    __module__ = "x.y"
print(A, A.__module__)
class B(A): pass
print(B.__module__)
class M(type):
    """meta"""
    __module__ = "of.meta"
C = M("C", (), {"__module__": "of.c"})
class D(metaclass=M): pass
print(M, C, D, D.__module__, C.__module__, D.__doc__, C.__qualname__)
