"""Functions of torch that are made of other operators: in PyTorch they are C++, here they are put together as
ATen does it."""
