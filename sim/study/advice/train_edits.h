#pragma once

#include <optional>

#include "sim/study/advice/remedy.h"

namespace tidemark::train_edits {

/// Remedies of a scenario whose loop is `train:`, as its keys; what the model's own text needs is
/// an edit of that (script_edits.h). Each says std::nullopt where it does not apply, or does so
/// already. Requires: `scenario` has `train` and is what `source` reads as.
using Edited = std::optional<Change>;

/// `train.step_in_backward`, where nothing looks at all gradients together.
Edited step_in_backward(const Scenario& scenario);
/// `train.save_on_cpu`.
Edited offload_activations(const Scenario& scenario);
/// The optimizer works on the host, on copies of the weights there.
Edited optimizer_on_host(const Scenario& scenario);
/// AdamW with both averages in eight bits.
Edited eight_bit_adam(const Scenario& scenario);
/// Adafactor in the place of Adam and AdamW; only learning rate and weight decay are kept.
Edited adafactor(const Scenario& scenario);
/// Linear layers rest, and small ones beside them learn; `in_four_bits`: what rests lies in four
/// bits a weight.
Edited low_rank(const ScenarioSource& source, const Scenario& scenario, bool in_four_bits);
/// The loss a few rows of the logits at a time, where `train.loss` names it.
Edited chunked_loss(const Scenario& scenario);
/// Blocks that the model has in a row run again in backward.
Edited checkpoint_blocks(const ScenarioSource& source, const Scenario& scenario);

}  // namespace tidemark::train_edits
