"""torchvision's compiled operators on a GPU, made of torch's, request by request.
Source: torchvision/csrc/ops/cuda, torchvision/csrc/ops/autograd, torchvision/csrc/ops/autocast"""
import _tidemark
import torch
import torch._C as _C
from torch.autograd.function import Function

_MOST_AT_ONCE = 32  # images for which deformable convolutions spread their columns together


def _cuda_version():
    return -1


def __getattr__(name):
    return _tidemark.later("torch.ops.torchvision." + name)


class _Operator:
    """one operator, whose only overload it is too"""

    def __init__(self, function):
        self._function, self.__name__ = function, function.__name__

    def __call__(self, *args, **kwargs):
        return self._function(*args, **kwargs)

    @property
    def default(self):
        return self


def _single(tensor):
    """what autocast hands on"""
    is_narrow = tensor.is_cuda and tensor.is_floating_point() and tensor.dtype != torch.float64
    return tensor.float() if is_narrow else tensor


def _is_autocast(tensor):
    return tensor.is_cuda and torch.is_autocast_enabled()


def _check(holds, message):
    if not holds:
        raise RuntimeError(message)


@_Operator
def nms(dets, scores, iou_threshold):
    _check(dets.dim() == 2, f"boxes should be a 2d tensor, got {dets.dim()}D")
    _check(dets.size(1) == 4, f"boxes should have 4 elements in dimension 1, got {dets.size(1)}")
    _check(scores.dim() == 1, f"scores should be a 1d tensor, got {scores.dim()}D")
    _check(dets.size(0) == scores.size(0), "boxes and scores should have same number of elements in dimension 0, got "
           f"{dets.size(0)} and {scores.size(0)}")
    if _is_autocast(dets):
        scores = _single(scores)
        dets = _single(dets)
    with torch.no_grad():
        if dets.numel() == 0:
            return torch.empty(0, dtype=torch.int64, device=dets.device)
        order = torch.sort(scores, stable=True, dim=0, descending=True)[1]
        ordered = dets.index_select(0, order).contiguous()
        count = dets.size(0)
        overlaps = torch.empty(count * ((count + 63) // 64), dtype=torch.int64, device=dets.device)
        kept = _C.forget(torch.zeros(count, dtype=torch.bool, device=dets.device))
        found = order.masked_select(kept)
        del kept, overlaps, ordered, order
        return found


class _Pooled(Function):
    """what reads regions of pictures: `places` is what it keeps of where its results come from"""

    @staticmethod
    def forward(ctx, input, rois, shape, has_places, is_dense):
        pooled = torch.zeros(shape, dtype=input.dtype, device=input.device)
        places = torch.zeros(shape, dtype=torch.int32, device=input.device) if has_places else None
        if pooled.numel() > 0:
            read = input.contiguous(), rois.contiguous()
            del read
        ctx.input_shape, ctx.is_dense = input.shape, is_dense
        if not has_places:
            ctx.save_for_backward(rois)
            return pooled
        ctx.late = torch.empty(0, dtype=torch.int32, device=input.device)
        ctx.save_for_backward(ctx.late, rois, places)
        ctx.mark_non_differentiable(places)
        ctx.set_materialize_grads(False)
        return pooled, places

    @staticmethod
    def backward(ctx, grad, *_):
        has_places = len(ctx.saved_tensors) > 1
        rois = ctx.saved_tensors[1 if has_places else 0]
        if has_places:
            # The gradient that nobody gives is dropped after the other: with what was saved.
            ctx.late.resize_(grad.shape)
            del ctx.late
        grad_input = torch.zeros(ctx.input_shape, dtype=grad.dtype, device=grad.device)
        if grad.numel() > 0:
            read = (grad.contiguous() if ctx.is_dense else grad), rois.contiguous()
            del read
        return grad_input, None, None, None, None


def _pooled(input, rois, channels, height, width, has_places, is_dense):
    _check(rois.size(1) == 5, "rois must have shape as Tensor[K, 5]")
    shape = (rois.size(0), channels, height, width)
    if not _is_autocast(input):
        return _Pooled.apply(input, rois, shape, has_places, is_dense)
    dtype = input.dtype
    if has_places:
        found = _Pooled.apply(_single(input), _single(rois), shape, True, is_dense)
        places = found[1].to(dtype)
        pooled = found[0].to(dtype)
        del found
        return pooled, places
    input, rois = _single(input), _single(rois)
    found = _Pooled.apply(input, rois, shape, False, is_dense)
    cast = found.to(dtype)
    del found
    return cast


@_Operator
def roi_align(input, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio, aligned):
    return _pooled(input, rois, input.size(1), pooled_height, pooled_width, False, False)


@_Operator
def roi_pool(input, rois, spatial_scale, pooled_height, pooled_width):
    return _pooled(input, rois, input.size(1), pooled_height, pooled_width, True, False)


def _share_of_channels(input, height, width):
    _check(input.size(1) % (height * width) == 0, "input channels must be a multiple of pooling height * pooling width")
    return input.size(1) // (height * width)


@_Operator
def ps_roi_align(input, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio):
    channels = _share_of_channels(input, pooled_height, pooled_width)
    return _pooled(input, rois, channels, pooled_height, pooled_width, True, True)


@_Operator
def ps_roi_pool(input, rois, spatial_scale, pooled_height, pooled_width):
    channels = _share_of_channels(input, pooled_height, pooled_width)
    return _pooled(input, rois, channels, pooled_height, pooled_width, True, True)


def _at_once(batch):
    return next(n for n in range(min(batch, _MOST_AT_ONCE), 0, -1) if batch % n == 0)


class _Deformed(Function):
    @staticmethod
    def forward(ctx, input, weight, offset, mask, bias, height, width, groups):
        read = input.contiguous(), offset.contiguous(), weight.contiguous(), mask.contiguous(), bias.contiguous()
        ctx.save_for_backward(input, weight, offset, mask, bias)
        ctx.groups = groups
        batch, into = input.size(0), weight.size(0)
        device = {"dtype": input.dtype, "device": input.device}
        out = torch.zeros(batch, into, height, width, **device)
        if batch == 0:
            return out
        n = _at_once(batch)
        own = torch.zeros(batch // n, into, n * height, width, **device)
        own = own.view(batch // n, groups, into // groups, n * height, width)
        rows = input.size(1) * weight.size(2) * weight.size(3)
        columns = torch.zeros(rows, n * height * width, **device).view(groups, rows // groups, n * height * width)
        weights = read[2].view(groups, into // groups, rows // groups)
        for part in own:
            for g in range(groups):
                part[g].flatten(1).addmm_(weights[g], columns[g])
        own = own.view(batch // n, into, n, height, width).transpose(1, 2)
        out.view(batch // n, n, into, height, width).copy_(own)
        result = out + read[4].view(1, into, 1, 1)
        del part, weights, columns, own, out, read
        return result

    @staticmethod
    def backward(ctx, grad):
        input, weight, offset, mask, bias = ctx.saved_tensors
        groups, batch, into = ctx.groups, input.size(0), weight.size(0)
        height, width = grad.shape[-2:]
        read = input.contiguous(), weight.contiguous(), offset.contiguous(), mask.contiguous()
        grad_input, grad_offset, grad_mask = torch.zeros_like(input), torch.zeros_like(offset), torch.zeros_like(mask)
        if batch == 0:
            grad_weight, grad_bias = torch.zeros_like(weight), torch.zeros_like(bias)
            return grad_input, grad_weight, grad_offset, grad_mask, grad_bias, None, None, None
        n = _at_once(batch)
        rows, wide = input.size(1) * weight.size(2) * weight.size(3), n * height * width
        weights = read[1].view(groups, into // groups, rows // groups)
        parts = grad.reshape(batch // n, n, groups, into // groups, height, width).permute(0, 2, 3, 1, 4, 5)
        columns = torch.empty(groups, rows // groups, wide, dtype=grad.dtype, device=grad.device)
        for part in parts:
            for g in range(groups):
                columns[g].addmm_(weights[g].transpose(0, 1), part[g].flatten(1), beta=0)
        del columns, part
        grad_weight = torch.zeros_like(weight)
        packed = grad.reshape(batch // n, n, groups, into // groups, height, width)
        parts = packed.permute(0, 2, 3, 1, 4, 5).contiguous()
        del packed
        columns = torch.empty(groups, rows // groups, wide, dtype=grad.dtype, device=grad.device)
        for part in parts:
            for g in range(groups):
                own = grad_weight.view(groups, into // groups, rows // groups)[g]
                own.addmm_(part[g].flatten(1), columns[g].transpose(1, 0))
        del columns, own, part, parts
        summed = grad.sum((0, 2, 3))
        ones = torch.ones_like(bias)
        grad_bias = ones * summed
        del ones, summed, read
        return grad_input, grad_weight, grad_offset, grad_mask, grad_bias, None, None, None


@_Operator
def deform_conv2d(input, weight, offset, mask, bias, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, groups,
                  offset_groups, use_mask):
    height = (input.size(2) + 2 * pad_h - (dilation_h * (weight.size(2) - 1) + 1)) // stride_h + 1
    width = (input.size(3) + 2 * pad_w - (dilation_w * (weight.size(3) - 1) + 1)) // stride_w + 1
    if not _is_autocast(input):
        return _Deformed.apply(input, weight, offset, mask, bias, height, width, groups)
    # (C++ works out its arguments from the last to the first.)
    singles = [_single(each) for each in (bias, mask, offset, weight, input)]
    found = _Deformed.apply(*singles[::-1], height, width, groups)
    cast = found.to(input.dtype)
    del found
    return cast
