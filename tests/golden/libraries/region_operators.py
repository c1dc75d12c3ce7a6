# torchvision's compiled operators: regions of pictures, deformable convolutions, overlapping boxes, samples. What is chosen hangs on
# numbers: the recording's kernels compute none.
# tidemark: --assume zeros
import torch

try:
    import torchvision  # loads the operators into the real PyTorch
except ImportError:
    pass

ops = torch.ops.torchvision


def train(function, *args):
    out = function(*args)
    out = out if isinstance(out, torch.Tensor) else out[0]
    out.float().square().sum().backward()
    print(out.shape, out.dtype)


def deform(w, b, images, offset, mask, stride, offset_groups, groups):
    return ops.deform_conv2d(images, w, offset, mask, b, stride, stride, 1, 1, 1, 1, groups, offset_groups, mask.dim() == 4)


boxes, scores = torch.zeros(1000, 4).cuda(), torch.zeros(1000).cuda()
print(ops.nms(boxes, scores, 0.5).shape, ops.nms(boxes[:0], scores[:0], 0.5).shape)
for count in (0, 1, 300):  # a sampler draws of those that fit
    print(torch.randperm(count, device="cuda")[:128].shape, torch.randperm(count, device="cuda", dtype=torch.int32).dtype)
rois = torch.zeros(10, 5).cuda()
maps = torch.zeros(2, 8, 20, 20).cuda().requires_grad_()
deep = torch.zeros(2, 2 * 49, 20, 20).cuda().requires_grad_()
for is_autocast in (False, True):
    with torch.autocast("cuda", torch.float16, enabled=is_autocast):
        given = [each.half() if is_autocast else each for each in (maps, deep)]
        train(ops.roi_align, given[0], rois, 1.0, 7, 7, 2, False)
        train(ops.roi_align, given[0], rois, 0.5, 7, 5, -1, True)
        train(ops.roi_pool, given[0], rois, 1.0, 3, 4)
        train(ops.ps_roi_align, given[1], rois, 1.0, 7, 7, 2)
        train(ops.ps_roi_pool, given[1], rois, 1.0, 7, 7)
        print(ops.nms(boxes.half() if is_autocast else boxes, scores, 0.5).shape)
for batch, groups, offset_groups in ((2, 1, 1), (33, 1, 1), (3, 2, 2), (34, 4, 1)):
    weight = torch.zeros(16, 8 // groups, 3, 3).cuda().requires_grad_()
    bias = torch.zeros(16).cuda().requires_grad_()
    images = torch.zeros(batch, 8, 20, 24).cuda().requires_grad_()
    offset = torch.zeros(batch, 18 * offset_groups, 10, 12).cuda().requires_grad_()
    for mask in (torch.zeros(batch, 1).cuda(), torch.zeros(batch, 9 * offset_groups, 10, 12).cuda()):
        train(deform, weight, bias, images, offset, mask, 2, offset_groups, groups)
        with torch.autocast("cuda", torch.float16):
            train(deform, weight, bias, images.half(), offset, mask, 2, offset_groups, groups)
