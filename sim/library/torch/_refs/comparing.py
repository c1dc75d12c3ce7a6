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


def _isin_sorted(out, elements, test_elements, invert):
    """Source: torch's isin_sorting, of elements that are unique"""
    together = torch.cat((elements, test_elements))
    values, order = together.sort(stable=True)
    found = torch.empty(values.shape, dtype=torch.bool, device=values.device)
    matches = values[1:] != values[:-1] if invert else values[1:] == values[:-1]
    found[:-1].copy_(matches)
    del matches
    found[-1] = invert
    mask = torch.empty_like(found)
    mask.index_copy_(0, order, found)
    out.copy_(mask[: elements.numel()].view(out.shape))
    del mask, found, values, order, together
    return out


def isin(elements, test_elements, *, assume_unique=False, invert=False):
    """few elements to look for are compared with each; for many PyTorch sorts"""
    if not isinstance(test_elements, torch.Tensor):
        return elements != test_elements if invert else elements == test_elements
    if not isinstance(elements, torch.Tensor):
        elements = torch.scalar_tensor(elements, dtype=type(elements), device=test_elements.device)
    out = torch.empty(elements.shape, dtype=torch.bool, device=elements.device)
    if test_elements.numel() >= _int(10.0 * elements.numel() ** 0.145):
        if not assume_unique:
            torch._C.refuse("isin with many elements to look for is not modelled: what it sorts depends on values",
                            "give assume_unique=True, look for fewer, or compare with == and combine")
        return _isin_sorted(out, elements.detach().flatten(), test_elements.detach().flatten(), invert)
    column = elements.unsqueeze(-1)
    row = test_elements.view([1] * elements.dim() + [test_elements.numel()])
    matches = column != row if invert else column == row
    found = matches.all(-1) if invert else matches.any(-1)
    # Of tokens that nobody knows it is asked whether a text ends with one: it goes on.
    torch._C.assume(found, float(invert))
    out.copy_(found)
    del found, matches
    return out
