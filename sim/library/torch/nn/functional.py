import math
import torch
import torch.nn.functional as F


def _fractional_pool(input, output_size, output_ratio, return_indices, samples, dims):
    spread = lambda value: list(value) if isinstance(value, (tuple, list)) else [value] * dims
    if output_size is None and output_ratio is None:
        raise ValueError(f"fractional_max_pool{dims}d requires specifying either an output_size or an output_ratio")
    if output_size is None:
        output_size = [int(input.size(d - dims) * ratio) for d, ratio in enumerate(spread(output_ratio))]
    if samples is None:
        batch = 1 if input.dim() == dims + 1 else input.size(0)
        samples = torch.rand(batch, input.size(-1 - dims), dims, dtype=input.dtype, device=input.device)
    out, indices = torch._fractional_max_pool(input, spread(output_size))
    return (out, indices) if return_indices else out


def fractional_max_pool2d(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
):
    return _fractional_pool(input, output_size, output_ratio, return_indices, _random_samples, 2)


def fractional_max_pool3d(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
):
    return _fractional_pool(input, output_size, output_ratio, return_indices, _random_samples, 3)


def fractional_max_pool2d_with_indices(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
):
    return _fractional_pool(input, output_size, output_ratio, True, _random_samples, 2)


def fractional_max_pool3d_with_indices(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
):
    return _fractional_pool(input, output_size, output_ratio, True, _random_samples, 3)


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    if out is not None:
        denom = input.norm(p, dim, keepdim=True).clamp_min_(eps).expand_as(input)
        return out
    denom = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / denom


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    if not isinstance(var, torch.Tensor):
        var = var * torch.ones_like(input)
    if var.size() != input.size():
        if input.size()[:-1] == var.size():
            var = torch.unsqueeze(var, -1)
        elif not (input.size()[:-1] == var.size()[:-1] and var.size(-1) == 1):
            raise ValueError("var is of incorrect size")
    if reduction != "none" and reduction != "mean" and reduction != "sum":
        raise ValueError(reduction + " is not valid")
    if torch.any(var < 0):
        raise ValueError("var has negative entry/entries")
    var = var.clone()
    with torch.no_grad():
        var.clamp_(min=eps)
    loss = 0.5 * (torch.log(var) + (input - target) ** 2 / var)
    if full:
        loss += 0.9189385332046727
    if reduction == "mean":
        return loss.mean()
    elif reduction == "sum":
        return loss.sum()
    else:
        return loss


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    reduction = torch.nn._reduction_name(size_average, reduce, reduction)
    loss = -(target * F.logsigmoid(input) + (1 - target) * F.logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    class_dim = input.dim() - 1
    C = input.size(class_dim)
    loss = loss.sum(dim=class_dim) / C
    if reduction == "none":
        ret = loss
    elif reduction == "mean":
        ret = loss.mean()
    elif reduction == "sum":
        ret = loss.sum()
    else:
        raise ValueError(reduction + " is not valid")
    return ret


def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False,
                                      reduction="mean"):
    if distance_function is None:
        distance_function = F.pairwise_distance
    dist_pos = distance_function(anchor, positive)
    dist_neg = distance_function(anchor, negative)
    if swap:
        dist_swap = distance_function(positive, negative)
        dist_neg = torch.minimum(dist_neg, dist_swap)
    loss = torch.clamp_min(margin + dist_pos - dist_neg, 0)
    if reduction == "sum":
        return torch.sum(loss)
    elif reduction == "mean":
        return torch.mean(loss)
    else:
        return loss


def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    dim = input.dim()
    if dim < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {dim} dimensions)")
    if input.numel() == 0:
        return input
    div = input.mul(input)
    if dim == 3:
        div = div.unsqueeze(1)
        div = F.pad(div, (0, 0, size // 2, (size - 1) // 2))
        div = F.avg_pool2d(div, (size, 1), stride=1).squeeze(1)
    else:
        sizes = input.size()
        div = div.view(sizes[0], 1, sizes[1], sizes[2], -1)
        div = F.pad(div, (0, 0, 0, 0, size // 2, (size - 1) // 2))
        div = F.avg_pool3d(div, (size, 1, 1), stride=1).squeeze(1)
        div = div.view(sizes)
    div = div.mul(alpha).add(k).pow(beta)
    return input / div


def _lp_pool(pool, most, count, input, norm_type, kernel_size, stride, ceil_mode):
    if torch._C.release_rule("lp_pool_of_infinity_is_max_pool"):
        if norm_type == float("inf"):
            return most(input.abs(), kernel_size, stride, 0, 1, ceil_mode)
        if norm_type == -float("inf"):
            return -most(-input.abs(), kernel_size, stride, 0, 1, ceil_mode)
    if stride is not None:
        out = pool(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    else:
        out = pool(input.pow(norm_type), kernel_size, padding=0, ceil_mode=ceil_mode)
    return (torch.sign(out) * F.relu(torch.abs(out))).mul(count).pow(1.0 / norm_type)


def _count(kernel_size, dims):
    if not isinstance(kernel_size, (tuple, list)):
        return kernel_size ** dims
    count = 1
    for size in kernel_size:
        count = count * size
    return count


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    pools = F.avg_pool1d, F.max_pool1d
    return _lp_pool(*pools, _count(kernel_size, 1), input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    pools = F.avg_pool2d, F.max_pool2d
    return _lp_pool(*pools, _count(kernel_size, 2), input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    pools = F.avg_pool3d, F.max_pool3d
    return _lp_pool(*pools, _count(kernel_size, 3), input, norm_type, kernel_size, stride, ceil_mode)


def pad(input, pad, mode="constant", value=None):
    if mode == "circular":
        return _circular_pad(input, pad)
    return torch._nn_pad(input, pad, mode, value)


def _circular_pad(input, pad):
    """the input in the middle, then each side's rows from the other side, the last dimension first"""
    spatial = len(pad) // 2
    if len(pad) % 2 != 0 or input.dim() not in (spatial + 1, spatial + 2) or spatial > 3:
        raise NotImplementedError("Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now")
    first = input.dim() - spatial
    sizes = list(input.shape)
    for i in range(spatial):
        left, right = pad[2 * i], pad[2 * i + 1]
        dim = first + spatial - 1 - i
        if left > sizes[dim] or right > sizes[dim]:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        if left + right + sizes[dim] < 0:
            raise RuntimeError("Negative padding value is resulting in an empty dimension")
        sizes[dim] += left + right
    out = input.new_empty(sizes)
    middle = out
    inner = input
    for i in range(spatial):
        left, right = pad[2 * i], pad[2 * i + 1]
        dim = first + spatial - 1 - i
        middle = middle.narrow(dim, max(left, 0), sizes[dim] - max(right, 0) - max(left, 0))
        inner = inner.narrow(dim, max(-left, 0), input.size(dim) - max(-right, 0) - max(-left, 0))
    middle.copy_(inner)
    for i in range(spatial):
        left, right = pad[2 * i], pad[2 * i + 1]
        dim = first + spatial - 1 - i
        if left > 0:
            out.narrow(dim, 0, left).copy_(out.narrow(dim, sizes[dim] - left - max(right, 0), left))
        if right > 0:
            out.narrow(dim, sizes[dim] - right, right).copy_(out.narrow(dim, max(left, 0), right))
    return out


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    gumbels = -torch.empty_like(logits, memory_format=torch.legacy_contiguous_format).exponential_().log()
    gumbels = (logits + gumbels) / tau
    y_soft = gumbels.softmax(dim)
    if hard:
        index = y_soft.max(dim, keepdim=True)[1]
        y_hard = torch.zeros_like(logits, memory_format=torch.legacy_contiguous_format).scatter_(dim, index, 1.0)
        ret = y_hard - y_soft.detach() + y_soft
    else:
        ret = y_soft
    return ret


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    known = _known(target_lengths, "ctc_loss", "target_lengths")
    longest = max(known, default=0)
    batched = log_probs.dim() == 3
    on_cudnn = _ctc_on_cudnn(log_probs, targets, input_lengths, target_lengths, known, blank)
    if not batched:
        log_probs = log_probs.unsqueeze(1)
        targets = targets.unsqueeze(0) if targets.dim() == 1 else targets
    if on_cudnn:
        res = torch._cudnn_ctc_loss(log_probs, bool(zero_infinity))
    else:
        res = torch._ctc_loss(log_probs, targets.to(log_probs.device, torch.int64), longest, bool(zero_infinity))
    if zero_infinity and not on_cudnn:
        zero = torch.zeros((), dtype=res.dtype, device=res.device)
        infinite = res == float("inf")
        res = torch.where(infinite, zero, res)
        del infinite, zero
    if reduction == "mean":
        count = res.size(0)
        lengths = torch.empty(count, dtype=torch.int64).to(device=res.device, dtype=res.dtype)
        target_length = lengths.clamp_min(1)
        del lengths
        ratio = res / target_length
        out = ratio.mean()
        del ratio, target_length
    elif reduction == "sum":
        out = res.sum()
    else:
        out = res
    del res
    return out if batched or reduction != "none" else out.squeeze(0)


def _ctc_on_cudnn(log_probs, targets, input_lengths, target_lengths, known, blank):
    """whether cuDNN computes it. Source: at::_use_cudnn_ctc_loss"""
    if not (
        torch.backends.cudnn.enabled
        and blank == 0
        and log_probs.is_cuda
        and log_probs.dtype == torch.float32
        and log_probs.dim() == 3
        and targets.dim() == 1
        and targets.dtype == torch.int32
    ):
        return False
    lengths = [input_lengths, target_lengths]
    if any([isinstance(each, torch.Tensor) for each in lengths]):
        if not all([isinstance(each, torch.Tensor) and each.dtype == torch.int32 for each in lengths]):
            return False
        inputs = _known(input_lengths, "ctc_loss", "input_lengths")
        if all([target < 256 and target <= length for target, length in zip(known, inputs)]):
            torch._C.refuse(
                "ctc_loss by cuDNN with lengths as int32 tensors is not modelled",
                "give the lengths as lists, or targets as int64",
            )
        return False
    longest = log_probs.size(0)
    return not targets.is_cuda and all([length == longest for length in input_lengths]) and all(
        [target < 256 and target <= length for target, length in zip(known, input_lengths)])


def _known(lengths, where, name):
    """lengths as numbers: what a list, or a tensor made of one, says"""
    if isinstance(lengths, (list, tuple)):
        return [int(length) for length in lengths]
    values = torch._C.known_integers(lengths)
    if values is None:
        torch._C.refuse(
            f"{where}: the values of {name} are not known",
            f"give {name} as a list, or as torch.tensor([...]) on the host",
        )
    return values


def affine_grid(theta, size, align_corners=None):
    if len(size) not in (4, 5):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. "
            f"Got size {size}."
        )
    return torch._affine_grid_generator(theta, list(size), bool(align_corners))


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    return F.interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None):
    return F.interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    return F.interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def _unpooled_size(input, kernel_size, stride, padding, output_size, dims):
    if output_size is not None:
        return list(output_size)[-dims:]
    spread = lambda value: list(value) if isinstance(value, (tuple, list)) else [value] * dims
    kernel_size, stride, padding = (
        spread(kernel_size),
        spread(kernel_size if stride is None else stride),
        spread(padding),
    )
    return [(input.size(d - dims) - 1) * stride[d] + kernel_size[d] - 2 * padding[d] for d in range(dims)]


def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    size = _unpooled_size(input, kernel_size, stride, padding, output_size, 1)
    return torch._max_unpool(input.unsqueeze(-1), indices.unsqueeze(-1), size + [1]).squeeze(-1)


def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    return torch._max_unpool(input, indices, _unpooled_size(input, kernel_size, stride, padding, output_size, 2))


def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    return torch._max_unpool(input, indices, _unpooled_size(input, kernel_size, stride, padding, output_size, 3))


def max_pool1d_with_indices(
    input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
):
    return F.max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


def max_pool2d_with_indices(
    input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
):
    return F.max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


def max_pool3d_with_indices(
    input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
):
    return F.max_pool3d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


def adaptive_max_pool1d_with_indices(input, output_size, return_indices=False):
    return F.adaptive_max_pool1d(input, output_size, True)


def adaptive_max_pool2d_with_indices(input, output_size, return_indices=False):
    return F.adaptive_max_pool2d(input, output_size, True)


def adaptive_max_pool3d_with_indices(input, output_size, return_indices=False):
    return F.adaptive_max_pool3d(input, output_size, True)


def native_channel_shuffle(input, groups):
    return F.channel_shuffle(input, groups)


def _canonical_mask(mask, target_type):
    """a mask of bools as numbers to add: 0 where it is False, -inf where it is True"""
    if mask is None or torch.is_floating_point(mask):
        return mask
    return torch.zeros_like(mask, dtype=target_type).masked_fill_(mask, float("-inf"))


def _in_projection_packed(q, k, v, w, b):
    E = q.size(-1)
    if k is v:
        if q is k:
            proj = F.linear(q, w, b)
            proj = proj.unflatten(-1, (3, E)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
            return proj[0], proj[1], proj[2]
        w_q, w_kv = w.split([E, E * 2])
        b_q, b_kv = (None, None) if b is None else b.split([E, E * 2])
        q_proj = F.linear(q, w_q, b_q)
        kv_proj = F.linear(k, w_kv, b_kv)
        kv_proj = kv_proj.unflatten(-1, (2, E)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
        return q_proj, kv_proj[0], kv_proj[1]
    w_q, w_k, w_v = w.chunk(3)
    b_q, b_k, b_v = (None, None, None) if b is None else b.chunk(3)
    return F.linear(q, w_q, b_q), F.linear(k, w_k, b_k), F.linear(v, w_v, b_v)


def _in_rows(attn_output, rows, embed_dim):
    if torch._C.release_rule("attention_drops_projections"):
        return attn_output.reshape(rows, embed_dim)
    return attn_output.contiguous().view(rows, embed_dim)


def multi_head_attention_forward(
    query,
    key,
    value,
    embed_dim_to_check,
    num_heads,
    in_proj_weight,
    in_proj_bias,
    bias_k,
    bias_v,
    add_zero_attn,
    dropout_p,
    out_proj_weight,
    out_proj_bias,
    training=True,
    key_padding_mask=None,
    need_weights=True,
    attn_mask=None,
    use_separate_proj_weight=False,
    q_proj_weight=None,
    k_proj_weight=None,
    v_proj_weight=None,
    static_k=None,
    static_v=None,
    average_attn_weights=True,
    is_causal=False,
):
    is_batched = query.dim() == 3
    if not is_batched:
        query = query.unsqueeze(1)
        key = key.unsqueeze(1)
        value = value.unsqueeze(1)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    tgt_len, bsz, embed_dim = query.shape
    src_len, _, _ = key.shape
    key_padding_mask = _canonical_mask(key_padding_mask, query.dtype)
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
                           "`generate_square_subsequent_mask` to create this mask.")
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None
    else:
        attn_mask = _canonical_mask(attn_mask, query.dtype)
        if key_padding_mask is not None:
            is_causal = False
    if embed_dim != embed_dim_to_check:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {embed_dim}")
    head_dim = embed_dim // num_heads
    if not use_separate_proj_weight:
        q, k, v = _in_projection_packed(query, key, value, in_proj_weight, in_proj_bias)
    else:
        if in_proj_bias is None:
            b_q = b_k = b_v = None
        else:
            b_q, b_k, b_v = in_proj_bias.chunk(3)
        q, k, v = (
            F.linear(query, q_proj_weight, b_q),
            F.linear(key, k_proj_weight, b_k),
            F.linear(value, v_proj_weight, b_v),
        )
    if attn_mask is not None and attn_mask.dim() == 2:
        attn_mask = attn_mask.unsqueeze(0)
    if bias_k is not None and bias_v is not None:
        k = torch.cat([k, bias_k.repeat(1, bsz, 1)])
        v = torch.cat([v, bias_v.repeat(1, bsz, 1)])
        if attn_mask is not None:
            attn_mask = F.pad(attn_mask, (0, 1))
        if key_padding_mask is not None:
            key_padding_mask = F.pad(key_padding_mask, (0, 1))
    q = q.view(tgt_len, bsz * num_heads, head_dim).transpose(0, 1)
    if static_k is None:
        k = k.view(k.shape[0], bsz * num_heads, head_dim).transpose(0, 1)
    else:
        k = static_k
    if static_v is None:
        v = v.view(v.shape[0], bsz * num_heads, head_dim).transpose(0, 1)
    else:
        v = static_v
    if add_zero_attn:
        zero_attn_shape = (bsz * num_heads, 1, head_dim)
        k = torch.cat([k, torch.zeros(zero_attn_shape, dtype=k.dtype, device=k.device)], dim=1)
        v = torch.cat([v, torch.zeros(zero_attn_shape, dtype=v.dtype, device=v.device)], dim=1)
        if attn_mask is not None:
            attn_mask = F.pad(attn_mask, (0, 1))
        if key_padding_mask is not None:
            key_padding_mask = F.pad(key_padding_mask, (0, 1))
    src_len = k.size(1)
    if key_padding_mask is not None:
        key_padding_mask = (key_padding_mask.view(bsz, 1, 1, src_len).expand(-1, num_heads, -1, -1)
                            .reshape(bsz * num_heads, 1, src_len))
        if attn_mask is None:
            attn_mask = key_padding_mask
        else:
            attn_mask = attn_mask + key_padding_mask
    if not training:
        dropout_p = 0.0
    drops = torch._C.release_rule("attention_drops_projections")
    if need_weights:
        q_scaled = q * math.sqrt(1.0 / float(q.shape[2]))
        if attn_mask is not None:
            attn_output_weights = torch.baddbmm(attn_mask, q_scaled, k.transpose(-2, -1))
        else:
            attn_output_weights = torch.bmm(q_scaled, k.transpose(-2, -1))
        if drops:
            del q_scaled, k
        attn_output_weights = F.softmax(attn_output_weights, dim=-1)
        if dropout_p > 0.0:
            attn_output_weights = F.dropout(attn_output_weights, p=dropout_p)
        attn_output = torch.bmm(attn_output_weights, v)
        if drops:
            del v
        attn_output = _in_rows(attn_output.transpose(0, 1), tgt_len * bsz, embed_dim)
        attn_output = F.linear(attn_output, out_proj_weight, out_proj_bias)
        attn_output = attn_output.view(tgt_len, bsz, attn_output.size(1))
        attn_output_weights = attn_output_weights.view(bsz, num_heads, tgt_len, src_len)
        if average_attn_weights:
            attn_output_weights = attn_output_weights.mean(dim=1)
        if not is_batched:
            attn_output = attn_output.squeeze(1)
            attn_output_weights = attn_output_weights.squeeze(0)
        return attn_output, attn_output_weights
    if attn_mask is not None:
        if attn_mask.size(0) == 1 and attn_mask.dim() == 3:
            attn_mask = attn_mask.unsqueeze(0)
        else:
            attn_mask = attn_mask.view(bsz, num_heads, -1, src_len)
    q = q.view(bsz, num_heads, tgt_len, head_dim)
    k = k.view(bsz, num_heads, src_len, head_dim)
    v = v.view(bsz, num_heads, src_len, head_dim)
    attn_output = F.scaled_dot_product_attention(q, k, v, attn_mask, dropout_p, is_causal)
    if drops:
        del q, k, v
    attn_output = _in_rows(attn_output.permute(2, 0, 1, 3), bsz * tgt_len, embed_dim)
    attn_output = F.linear(attn_output, out_proj_weight, out_proj_bias)
    attn_output = attn_output.view(tgt_len, bsz, attn_output.size(1))
    if not is_batched:
        attn_output = attn_output.squeeze(1)
    return attn_output, None
