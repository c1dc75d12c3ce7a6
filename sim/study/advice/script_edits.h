#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "sim/study/advice/remedy.h"

namespace tidemark::script_edits {

/// Remedies of a script as edits of its files, found in the syntax tree wherever the user wrote
/// it. Each says std::nullopt where it does not apply, or does so already; whether it helps, and
/// whether the program still runs, is for a run to say. Requires: `scenario` is a script and what
/// `source` reads as.
using Edited = std::optional<Change>;

/// One more argument for each optimizer of torch.optim of these names that says nothing of how its
/// steps are made.
Edited give_optimizers(const ScenarioSource& source, const Scenario& scenario,
                       std::span<const std::string_view> names, std::string_view argument);
/// Another optimizer of torch.optim in the place of Adam and AdamW; only the learning rate and the
/// weight decay are kept.
Edited other_optimizer(const ScenarioSource& source, const Scenario& scenario,
                       std::string_view name, std::string_view note);
/// The one optimizer of torch.optim steps for each weight as soon as its gradient is there, where
/// nothing looks at all gradients together.
Edited step_in_backward(const ScenarioSource& source, const Scenario& scenario);
/// Adam and AdamW with both averages in eight bits.
Edited eight_bit_adam(const ScenarioSource& source, const Scenario& scenario);
/// Optimizers of torch.optim that work on the host, on copies of the weights there.
Edited optimizer_on_host(const ScenarioSource& source, const Scenario& scenario);
/// Cross entropy a few rows of the logits at a time.
Edited chunked_loss(const ScenarioSource& source, const Scenario& scenario);
/// Attention that is written out, or that keeps weights nobody takes, by
/// scaled_dot_product_attention.
Edited attention_kernel(const ScenarioSource& source, const Scenario& scenario);
/// What a turn of the training loop makes goes as soon as nothing in it reads it.
Edited delete_early(const ScenarioSource& source, const Scenario& scenario);
/// Samples one behind another in place of padded ones, where a Trainer makes the batches.
Edited pack_samples(const ScenarioSource& source, const Scenario& scenario);
Edited set_to_none(const ScenarioSource& source, const Scenario& scenario);
/// The level-th place that keeps a tensor: its value goes to the host, without its graph.
Edited keep_numbers(const ScenarioSource& source, const Scenario& scenario, unsigned level);
/// Each forward pass within torch.autocast.
Edited autocast(const ScenarioSource& source, const Scenario& scenario, bool has_bfloat16);
/// What forward saves for backward lies on the host.
Edited offload_activations(const ScenarioSource& source, const Scenario& scenario);
/// Models take bfloat16 right after they are made. From `way` 2 on what they are called with does
/// so too, from 3 on what they give is float32 again.
Edited bfloat16_weights(const ScenarioSource& source, const Scenario& scenario, unsigned way);
/// The step in 2, 4, 8, ... parts of the batch, whose gradients add up.
Edited micro_batches(const ScenarioSource& source, const Scenario& scenario, unsigned level);
/// The user's own modules that a model repeats run again in backward; of a library's model its
/// switch for that.
Edited checkpoint(const ScenarioSource& source, const Scenario& scenario);
/// The same, but what matrix products and attention gave is kept.
Edited selective_checkpoint(const ScenarioSource& source, const Scenario& scenario);
/// Models' linear layers rest, and small ones beside them learn.
Edited low_rank(const ScenarioSource& source, const Scenario& scenario);
/// The same, and the weights that rest lie in four bits each.
Edited low_rank_in_four_bits(const ScenarioSource& source, const Scenario& scenario);
/// Models are sharded over 2, 4, 8, ... processes, each with a GPU of its own.
Edited shard(const ScenarioSource& source, const Scenario& scenario, unsigned level);
/// No graph where no backward follows: of the program, or of functions that evaluate.
Edited no_gradients(const ScenarioSource& source, const Scenario& scenario);
/// Batches of a half, a quarter, ... of each DataLoader.
Edited smaller_batches(const ScenarioSource& source, const Scenario& scenario, unsigned level);

}  // namespace tidemark::script_edits
