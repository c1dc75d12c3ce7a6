# Megatron-Core: two ranks share each layer, two train copies; its own gradient buffers, optimizer and schedule.
# tidemark: --rank 0 --world 4
import os

import megatron.core
import torch
from megatron.core import parallel_state
from megatron.core.distributed import DistributedDataParallel, DistributedDataParallelConfig, finalize_model_grads
from megatron.core.models.gpt.gpt_layer_specs import get_gpt_layer_local_spec
from megatron.core.models.gpt.gpt_model import GPTModel
from megatron.core.optimizer import OptimizerConfig, get_megatron_optimizer
from megatron.core.pipeline_parallel.schedules import get_forward_backward_func
from megatron.core.tensor_parallel.random import model_parallel_cuda_manual_seed
from megatron.core.transformer.module import Float16Module
from megatron.core.transformer.transformer_config import TransformerConfig

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
torch.distributed.init_process_group("nccl")
parallel_state.initialize_model_parallel(tensor_model_parallel_size=2, create_gloo_process_groups=False)
model_parallel_cuda_manual_seed(123)
config = TransformerConfig(
    num_layers=2,
    hidden_size=256,
    num_attention_heads=4,
    tensor_model_parallel_size=2,
    bf16=True,
    params_dtype=torch.bfloat16,
    pipeline_dtype=torch.bfloat16,
    gradient_accumulation_fusion=False,
    bias_dropout_fusion=False,
    bias_activation_fusion=False,
    masked_softmax_fusion=False,
)
spec = get_gpt_layer_local_spec()
model = GPTModel(config=config, transformer_layer_spec=spec, vocab_size=1024, max_sequence_length=128).cuda()
buffers = DistributedDataParallelConfig(grad_reduce_in_fp32=True, use_distributed_optimizer=True)
model = DistributedDataParallel(config, buffers, Float16Module(config, model))
optimizer = get_megatron_optimizer(
    OptimizerConfig(
        optimizer="adam",
        lr=1e-4,
        bf16=True,
        params_dtype=torch.bfloat16,
        use_distributed_optimizer=True,
        clip_grad=1.0,
    ),
    [model],
    use_gloo_process_groups=False,
)
config.finalize_model_grads_func = finalize_model_grads
config.no_sync_func = model.no_sync


def forward(iterator, model):
    tokens = torch.randint(0, 1024, (2, 128), device="cuda")
    positions = torch.arange(128, device="cuda").unsqueeze(0).expand(2, -1)
    mask = torch.ones(1, 1, 128, 128, device="cuda", dtype=torch.bool).triu(1)

    def loss_of(output):
        loss = output.float().mean()
        return loss, {"loss": loss.detach()}

    return model(tokens, positions, mask, labels=tokens), loss_of


run = get_forward_backward_func()
for step in range(3):
    model.zero_grad_buffer()
    optimizer.zero_grad()
    run(
        forward_step_func=forward,
        data_iterator=None,
        model=model,
        num_microbatches=2,
        seq_length=128,
        micro_batch_size=2,
        decoder_seq_length=128,
        forward_only=False,
    )
    optimizer.step()
