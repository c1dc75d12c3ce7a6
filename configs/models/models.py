"""A model zoo in plain torch.nn, a family a file.

Every architecture is written from its published description; nothing is imported but torch. Importing this file registers all of them:

    WORKLOADS["resnet18"].build(num_classes=1000)            -> nn.Module, on the host
    WORKLOADS["resnet18"].host_batch(8, image=224)           -> [x, y], host tensors, the last one is the target
    WORKLOADS["resnet18"].loss(model(x), y)                  -> 0-dim tensor
"""
from mlp import mlp, CheckpointedMLP, three_linear, autoencoder
from small_convnets import SimpleConv, simple_conv, SmallNetwork, small_network, SeparableNet, separable
from resnet import BasicBlock, Bottleneck, ResNet, register_resnet
from vgg import vgg
from mobilenet import InvertedResidual, MobileNetV2, mobilenet_v2
from densenet import DenseLayer, DenseBlock, densenet
from unet import segmentation, double_conv, UNet, unet
from vit import ViTBlock, ViT, vit
from gpt2 import GPTBlock, GPT, gpt2
from bert import BertLayer, Bert, bert
from norms import RMSNorm
from llama import rotate_half, LlamaLayer, Llama, llama
from moe import Experts, Mixture, MoELayer, MoE, moe
from t5 import T5Attention, T5Layer, T5, t5
from transformer import EncoderClassifier, token_class, transformer
from recurrent import Recurrent, register_recurrent
from dlrm import DLRM, clicks, dlrm
from gan import GAN, gan
from workloads import (WORKLOADS, Workload, workload, run_blocks, images, vectors, reconstruct_vectors, tokens, masked_tokens,
    token_pairs, class_loss, token_loss, token_loss_fp32, mse)
