#include "sim/study/advice/train_edits.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>

#include <fmt/format.h>

#include "sim/run/literals.h"
#include "sim/study/advice/added_code.h"
#include "sim/study/advice/call_edits.h"
#include "sim/study/advice/code_edit.h"

namespace tidemark::train_edits {
namespace {

using lang::CallExpr;
using lang::UserCode;

UserCode code_of(std::string text, UserCode::Imports around = {}) {
  return UserCode(std::make_shared<const SourceText>(SourceText{"", std::move(text)}),
                  std::move(around));
}

bool learns(const TrainSpec& train) { return !train.no_grad && !train.forward_only; }

/// Nothing but the whole weights of one process.
bool is_whole(const TrainSpec& train) { return !train.parallel && train.ddp_world.empty(); }

/// `train.prepare` with more behind what is there. `names`: files of added code that it needs.
Override prepared(const TrainSpec& train, std::initializer_list<std::string_view> names,
                  std::initializer_list<std::string_view> modules, std::string_view lines) {
  std::string text = train.prepare.empty() ? "" : train.prepare + "\n\n";
  text += added_code(names, modules);
  if (!lines.empty()) text += fmt::format("\n{}\n", lines);
  return {"train.prepare", quoted_literal(text)};
}

bool prepares(const TrainSpec& train, std::string_view name) {
  return code_of(train.prepare).mentions(name);
}

Override optimizer_as(const std::string& text) { return {"train.optimizer", quoted_literal(text)}; }

bool is_adam(const TrainSpec& train) {
  return train.optimizer == "torch.optim.Adam" || train.optimizer == "torch.optim.AdamW";
}

/// An optimizer's further arguments, those of these names alone; std::nullopt: some have no name.
std::optional<std::string> kept_arguments(const TrainSpec& train,
                                          std::span<const std::string_view> names) {
  const UserCode code = code_of(fmt::format("f({})", train.optimizer_arguments));
  if (code.expressions().empty()) return std::nullopt;
  const auto& call = static_cast<const CallExpr&>(*code.expressions().front());
  if (!call.arguments.empty()) return std::nullopt;
  std::string kept;
  for (const lang::Keyword& keyword : call.keywords) {
    if (keyword.spread) return std::nullopt;
    const std::string_view name = code.name(keyword.name);
    if (is_one_of(name, names))
      kept += fmt::format("{}{}={}", kept.empty() ? "" : ", ", name, code.text(*keyword.value));
  }
  return kept;
}

}  // namespace

Edited step_in_backward(const Scenario& scenario) {
  const TrainSpec& train = *scenario.train;
  const bool scales = train.precision == TrainSpec::Precision::kAmpFp16 && train.scaler;
  if (!learns(train) || train.step_in_backward || !is_whole(train) || !train.clip.empty() ||
      train.accumulate != "1" || train.decay_groups || scales ||
      !train.optimizer.starts_with("torch.optim."))
    return std::nullopt;
  return Change{{{"train.step_in_backward", "true"}}, "each weight's step in backward"};
}

Edited offload_activations(const Scenario& scenario) {
  if (!learns(*scenario.train) || scenario.train->save_on_cpu) return std::nullopt;
  return Change{{{"train.save_on_cpu", "true"}}, "what forward saves lies on the host"};
}

Edited optimizer_on_host(const Scenario& scenario) {
  const TrainSpec& train = *scenario.train;
  const bool scales = train.precision == TrainSpec::Precision::kAmpFp16 && train.scaler;
  if (!learns(train) || !is_whole(train) || train.step_in_backward || train.decay_groups ||
      scales || !train.optimizer.starts_with("torch.optim."))
    return std::nullopt;
  return Change{{prepared(train, {"on_host"}, {},
                          fmt::format("\nOptimizerOnHost = on_host({})", train.optimizer)),
                 optimizer_as(fmt::format("OptimizerOnHost({})", train.optimizer_arguments))},
                "the optimizer and its state on the host"};
}

Edited eight_bit_adam(const Scenario& scenario) {
  constexpr std::array<std::string_view, 4> kKept{"lr", "betas", "eps", "weight_decay"};
  const TrainSpec& train = *scenario.train;
  const auto kept = kept_arguments(train, kKept);
  if (!learns(train) || !is_whole(train) || !is_adam(train) || !kept) return std::nullopt;
  return Change{{prepared(train, {"eight_bit_adam"}, {}, {}),
                 optimizer_as(fmt::format("EightBitAdam({})", *kept))},
                "Adam's state in eight bits"};
}

Edited adafactor(const Scenario& scenario) {
  constexpr std::array<std::string_view, 2> kKept{"lr", "weight_decay"};
  const TrainSpec& train = *scenario.train;
  const auto kept = kept_arguments(train, kKept);
  if (!learns(train) || !is_adam(train) || !kept) return std::nullopt;
  return Change{{optimizer_as(fmt::format("Adafactor({})", *kept))},
                "Adafactor: state of rows and columns"};
}

Edited low_rank(const ScenarioSource& source, const Scenario& scenario, bool in_four_bits) {
  const TrainSpec& train = *scenario.train;
  if (!learns(train) || !is_whole(train)) return std::nullopt;
  const std::vector<UserFile> files = user_files(source, scenario);
  for (const std::string_view word : {"LowRank", "peft", "LoraConfig", "requires_grad_"}) {
    if (any_mentions(files, word) || prepares(train, word)) return std::nullopt;
  }
  if (in_four_bits) {
    return Change{{prepared(train, {"low_rank", "four_bits"}, {},
                            "\nlearn_low_rank(model)\nrest_in_four_bits(model)")},
                  "linear layers rest in 4 bits a weight, two of rank 8 beside each learn"};
  }
  return Change{{prepared(train, {"low_rank"}, {}, "\nlearn_low_rank(model)")},
                "linear layers rest, two of rank 8 beside each learn"};
}

Edited chunked_loss(const Scenario& scenario) {
  constexpr std::array<std::string_view, 1> kNames{"ignore_index"};
  const TrainSpec& train = *scenario.train;
  if (!learns(train) || prepares(train, "ChunkedCrossEntropy")) return std::nullopt;
  const UserCode code = code_of(train.loss, names_around_loop(scenario));
  if (code.expressions().empty()) return std::nullopt;
  std::vector<lang::Edit> edits;
  if (code.path(*code.expressions().front()) == "torch.nn.functional.cross_entropy") {
    const lang::Place whole = code.extent(*code.expressions().front());
    edits.push_back({whole, "chunked_cross_entropy"});
  }
  for (const PathCall& each : calls_of(code)) {
    const bool is_plain =
        each.call->arguments.size == 2 && !each.call->spread &&
        std::all_of(each.call->keywords.begin(), each.call->keywords.end(),
                    [&](const lang::Keyword& keyword) {
                      return !keyword.spread && is_one_of(code.name(keyword.name), kNames);
                    });
    if (each.path == "torch.nn.functional.cross_entropy" && is_plain)
      edits.push_back({code.extent(*each.call->callee), "chunked_cross_entropy"});
  }
  if (edits.empty()) return std::nullopt;
  const std::string loss = edited(train.loss, std::move(edits));
  return Change{{prepared(train, {"chunked_loss"}, {}, {}), {"train.loss", quoted_literal(loss)}},
                "the loss and its gradient, a few rows of the logits at a time"};
}

Edited checkpoint_blocks(const ScenarioSource& source, const Scenario& scenario) {
  const TrainSpec& train = *scenario.train;
  if (!learns(train) || train.checkpoint != TrainSpec::Checkpoint::kNone) return std::nullopt;
  const std::vector<UserFile> files = user_files(source, scenario);
  for (const std::string_view word : {"checkpoint", "checkpoint_blocks"}) {
    if (any_mentions(files, word) || prepares(train, word)) return std::nullopt;
  }
  return Change{{prepared(train, {"checkpoint_blocks"}, {"functools", "torch.utils.checkpoint"},
                          "\ncheckpoint_blocks(model)")},
                "checkpoint every block that the model has in a row"};
}

}  // namespace tidemark::train_edits
