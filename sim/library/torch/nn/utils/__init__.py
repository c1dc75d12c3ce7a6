from torch.nn.utils.clip_grad import (
    clip_grad_norm_, clip_grad_value_, clip_grads_with_norm_, get_total_norm,
)
from torch.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters
from torch.nn.utils.fusion import (
    fuse_conv_bn_eval, fuse_conv_bn_weights, fuse_linear_bn_eval, fuse_linear_bn_weights,
)
from torch.nn.utils.init import skip_init
from torch.nn.utils.spectral_norm import remove_spectral_norm, spectral_norm
from torch.nn.utils.weight_norm import remove_weight_norm, weight_norm
