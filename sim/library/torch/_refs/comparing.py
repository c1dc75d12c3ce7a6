import torch

_int = type(1)  # torch.int is a dtype


# Source: ATen's TensorCompare.cpp. What C++ holds until a statement or the function ends is held as long here.


def isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    if input.dtype != other.dtype:
        raise RuntimeError(f"{input.dtype} did not match {other.dtype}")
    if rtol < 0 or atol < 0:
        raise RuntimeError(
            f"{'rtol' if rtol < 0 else 'atol'} must be greater than or equal to zero, but got "
            f"{rtol if rtol < 0 else atol}"
        )
    numbers = input.is_floating_point() or input.is_complex()
    close = input == other
    if equal_nan and numbers:
        missing = torch.isnan(input)
        missing_too = torch.isnan(other)
        missing.bitwise_and_(missing_too)
        close.bitwise_or_(missing)
        del missing_too, missing
    if rtol == 0 and atol == 0:
        return close
    own = input.to(torch.get_default_dtype()) if input.dtype == torch.bool else input
    target = other if numbers else other.to(torch.get_default_dtype())
    scaled = target * rtol
    magnitude = scaled.abs()
    allowed = magnitude + atol
    del magnitude, scaled
    difference = own - target
    actual = difference.abs()
    del difference
    within = torch.isfinite(actual)
    small = actual <= allowed
    within.bitwise_and_(small)
    close.bitwise_or_(within)
    del small, within, actual, allowed, target, own
    return close


def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    with torch.no_grad():
        close = isclose(input, other, rtol, atol, equal_nan)
    verdict = close.all()
    torch._C.assume(verdict, 1.0)
    out = verdict.item()
    del verdict, close
    return out


def isin(elements, test_elements, *, assume_unique=False, invert=False):
    """few elements to look for are compared with each; for many PyTorch sorts"""
    if not isinstance(test_elements, torch.Tensor):
        return elements != test_elements if invert else elements == test_elements
    if not isinstance(elements, torch.Tensor):
        torch._C.refuse("isin of a number in a tensor is not modelled", "make a tensor of the number")
    if test_elements.numel() >= _int(10.0 * elements.numel() ** 0.145):
        torch._C.refuse("isin with many elements to look for is not modelled: what it sorts depends on values",
                        "look for fewer, or compare with == and combine")
    out = torch.empty(elements.shape, dtype=torch.bool, device=elements.device)
    column = elements.unsqueeze(-1)
    row = test_elements.view([1] * elements.dim() + [test_elements.numel()])
    matches = column != row if invert else column == row
    found = matches.all(-1) if invert else matches.any(-1)
    # Of tokens that nobody knows it is asked whether a text ends with one: it goes on.
    torch._C.assume(found, float(invert))
    out.copy_(found)
    del found, matches
    return out
