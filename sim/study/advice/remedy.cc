#include "sim/study/advice/remedy.h"

#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>

#include "sim/lang/values/str.h"
#include "sim/run/literals.h"
#include "sim/run/yaml_path.h"
#include "sim/study/advice/code_edit.h"
#include "sim/study/advice/script_edits.h"
#include "sim/study/advice/train_edits.h"

namespace tidemark {
namespace {

using Applied = std::optional<Change>;

/// A setting joined to those that PYTORCH_ALLOC_CONF has.
Applied add_setting(const Scenario& scenario, std::string_view key, std::string_view value) {
  const std::string& conf = scenario.settings.text;
  if (conf.find(key) != std::string::npos || scenario.settings.backend != Backend::kNative)
    return std::nullopt;
  const std::string setting = fmt::format("{}:{}", key, value);
  const std::string joined = conf.empty() ? setting : conf + "," + setting;
  return Change{{{"allocator.conf", quoted_literal(joined)}},
                fmt::format("PYTORCH_ALLOC_CONF={}", joined)};
}

Applied set_train(std::string_view key, std::string value, std::string text) {
  return Change{{{fmt::format("train.{}", key), std::move(value)}}, std::move(text)};
}

/// Edits of the loop's text, told as the line before and after.
Applied edit_loop(const Scenario& scenario, std::vector<lang::Edit> edits) {
  if (!has_own_loop(scenario)) return std::nullopt;
  std::string text = shown_edit(scenario, edits);
  return Change{{loop_with(scenario, std::move(edits))}, std::move(text)};
}

/// A line put before the loop's first.
Applied begin_loop_with(const Scenario& scenario, std::string line) {
  return edit_loop(scenario, {{{}, std::move(line) + "\n"}});
}

const lang::CallExpr* as_call(const lang::Expr& node) {
  return node.kind == lang::ExprKind::kCall ? &static_cast<const lang::CallExpr&>(node) : nullptr;
}

Applied expandable(const ScenarioSource& /*source*/, const Scenario& scenario, unsigned /*level*/) {
  return add_setting(scenario, "expandable_segments", "True");
}

Applied roundup(const ScenarioSource& /*source*/, const Scenario& scenario, unsigned /*level*/) {
  return add_setting(scenario, "roundup_power2_divisions", "8");
}

Applied empty_cache(const ScenarioSource& /*source*/, const Scenario& scenario,
                    unsigned /*level*/) {
  if (!scenario.train || scenario.train->empty_cache) return std::nullopt;
  return set_train("empty_cache", "each_step", "torch.cuda.empty_cache() after each step");
}

Applied set_to_none(const ScenarioSource& source, const Scenario& scenario, unsigned /*level*/) {
  if (scenario.train) {
    if (scenario.train->set_to_none) return std::nullopt;
    return set_train("set_to_none", "true", "zero_grad(set_to_none=True)");
  }
  if (scenario.is_script) return script_edits::set_to_none(source, scenario);
  const lang::UserCode code(scenario.loop);
  for (const lang::Expr* node : code.expressions()) {
    const lang::CallExpr* call = as_call(*node);
    const lang::Expr* given = call == nullptr ? nullptr : keyword_of(code, *call, "set_to_none");
    if (given == nullptr || code.text(*given) != "False") continue;
    return edit_loop(scenario, {{given->place, "True"}});
  }
  return std::nullopt;
}

/// Whether an optimizer's call says nothing of how its steps are made.
bool leaves_open(const lang::UserCode& code, const lang::CallExpr& call) {
  return keyword_of(code, call, "fused") == nullptr &&
         keyword_of(code, call, "foreach") == nullptr &&
         std::none_of(call.keywords.begin(), call.keywords.end(),
                      [](const lang::Keyword& keyword) { return keyword.spread; });
}

std::shared_ptr<const SourceText> as_source(std::string text) {
  return std::make_shared<const SourceText>(SourceText{"", std::move(text)});
}

/// One more argument for an optimizer of torch.optim, where it says nothing of fused or foreach.
Applied give_optimizer(const ScenarioSource& source, const Scenario& scenario,
                       std::span<const std::string_view> names, std::string_view argument) {
  if (scenario.is_script) return script_edits::give_optimizers(source, scenario, names, argument);
  if (scenario.train) {
    const TrainSpec& train = *scenario.train;
    if (train.no_grad || train.forward_only) return std::nullopt;
    const auto name = std::find_if(names.begin(), names.end(), [&](std::string_view one) {
      return train.optimizer == fmt::format("torch.optim.{}", one);
    });
    if (name == names.end()) return std::nullopt;
    const std::string optimizer = fmt::format("{}({})", *name, train.optimizer_arguments);
    const lang::UserCode code(as_source(optimizer));
    const lang::CallExpr* call =
        code.expressions().empty() ? nullptr : as_call(*code.expressions().front());
    if (call == nullptr || !leaves_open(code, *call)) return std::nullopt;
    const std::string with = edited(optimizer, with_argument(code, *call, argument));
    return set_train("optimizer", quoted_literal(with), with);
  }
  const lang::UserCode code(scenario.loop);
  const lang::UserCode::Imports around = names_around_loop(scenario);
  for (const std::string_view name : names) {
    for (const lang::Expr* node : code.expressions()) {
      const lang::CallExpr* call = as_call(*node);
      if (call == nullptr || !leaves_open(code, *call)) continue;
      if (code.path(*call->callee, around) != fmt::format("torch.optim.{}", name)) continue;
      return edit_loop(scenario, with_argument(code, *call, argument));
    }
  }
  return std::nullopt;
}

Applied fused(const ScenarioSource& source, const Scenario& scenario, unsigned /*level*/) {
  constexpr std::string_view kNames[] = {"Adam", "AdamW", "SGD", "Adagrad"};
  return give_optimizer(source, scenario, kNames, "fused=True");
}

Applied one_by_one(const ScenarioSource& source, const Scenario& scenario, unsigned /*level*/) {
  constexpr std::string_view kNames[] = {"Adam",    "AdamW",    "SGD",    "Adagrad",
                                         "RMSprop", "Adadelta", "Adamax", "NAdam",
                                         "RAdam",   "ASGD",     "Rprop"};
  return give_optimizer(source, scenario, kNames, "foreach=False");
}

Applied del_outputs(const ScenarioSource& source, const Scenario& scenario, unsigned /*level*/) {
  if (!scenario.train) return script_edits::delete_early(source, scenario);
  if (scenario.train->del_outputs) return std::nullopt;
  return set_train("del_outputs", "true", "del out, loss at the end of each step");
}

Applied zero_grad_early(const ScenarioSource& /*source*/, const Scenario& scenario,
                        unsigned /*level*/) {
  if (!scenario.train || scenario.train->no_grad || scenario.train->forward_only ||
      scenario.train->zero_grad_at != TrainSpec::ZeroGradAt::kBeforeBackward)
    return std::nullopt;
  return set_train("zero_grad", "end", "zero_grad() at the end of each step");
}

Applied bucket_view(const ScenarioSource& source, const Scenario& scenario, unsigned /*level*/) {
  if (!scenario.train || scenario.train->ddp_world.empty() ||
      lang::UserCode(as_source(fmt::format("f({})", scenario.train->ddp_arguments)))
          .mentions("gradient_as_bucket_view"))
    return std::nullopt;
  const yaml::Node root = read_tree(source);
  const yaml::Node* ddp = find_path(root, "train.ddp");
  const std::string text = "DistributedDataParallel(gradient_as_bucket_view=True)";
  if (ddp != nullptr && ddp->kind == yaml::Node::Kind::kMap)
    return set_train("ddp.gradient_as_bucket_view", "true", text);
  return set_train(
      "ddp",
      fmt::format("{{world_size: {}, gradient_as_bucket_view: true}}", scenario.train->ddp_world),
      text);
}

/// A parameter of the scenario that is off and is named so.
Applied switch_on(const Scenario& scenario, std::string_view word, std::string text) {
  for (const Parameter& parameter : scenario.params) {
    const bool is_off = parameter.value == "False" || parameter.value == "false";
    const std::string_view name = parameter.name;
    const bool is_named = name == word || (word.size() > 4 && name.starts_with(word));
    if (!is_off || !is_named) continue;
    return Change{{{"params." + parameter.name, "true"}}, std::move(text)};
  }
  return std::nullopt;
}

Applied checkpoint(const ScenarioSource& source, const Scenario& scenario, unsigned /*level*/) {
  if (Applied own = switch_on(scenario, "checkpoint", "checkpointing, by the scenario's switch"))
    return own;
  if (scenario.is_script) return script_edits::checkpoint(source, scenario);
  const auto& model = scenario.model.source;
  const bool heeds = model && lang::UserCode(model).mentions("checkpoint_mode");
  if (!heeds && !scenario.train) return script_edits::checkpoint(source, scenario);
  if (!heeds) {
    if (scenario.train->no_grad || scenario.train->forward_only) return std::nullopt;
    if (Applied own = script_edits::checkpoint(source, scenario)) return own;
    return train_edits::checkpoint_blocks(source, scenario);
  }
  if (scenario.train) {
    if (scenario.train->checkpoint != TrainSpec::Checkpoint::kNone || scenario.train->no_grad)
      return std::nullopt;
    return set_train("checkpoint", "every-block", "checkpoint every block of the model");
  }
  if (lang::UserCode(scenario.loop).mentions("checkpoint_mode")) return std::nullopt;
  return begin_loop_with(scenario, "model.checkpoint_mode = \"every-block\"");
}

/// phase("forward"), phase(f"forward {i}").
bool is_forward_phase(const lang::UserCode& code, const lang::Expr& node) {
  const lang::CallExpr* call = as_call(node);
  if (call == nullptr || callee_name(code, *call) != "phase" || call->arguments.empty())
    return false;
  const lang::Expr* name = call->arguments[0];
  std::string_view begin;
  if (name->kind == lang::ExprKind::kConstant) {
    const lang::Literal& literal = static_cast<const lang::ConstantExpr*>(name)->literal;
    if (literal.kind == lang::Literal::Kind::kText) begin = code.name(literal.text());
  } else if (name->kind == lang::ExprKind::kJoined) {
    const auto& parts = static_cast<const lang::JoinedExpr*>(name)->parts;
    if (!parts.empty() && parts[0].value == nullptr) begin = code.name(parts[0].text);
  }
  return begin.starts_with("forward");
}

Applied autocast(const ScenarioSource& source, const Scenario& scenario, unsigned /*level*/) {
  const bool has_bf16 = scenario.device.compute_capability >= 80;
  for (const std::string_view word : {"autocast", "amp"}) {
    if (Applied own = switch_on(scenario, word, "autocast, by the scenario's switch")) return own;
  }
  if (scenario.train) {
    if (scenario.train->precision != TrainSpec::Precision::kFp32) return std::nullopt;
    const std::string kind = has_bf16 ? "amp-bf16" : "amp-fp16";
    return set_train("precision", kind,
                     fmt::format("autocast to {}", has_bf16 ? "bfloat16" : "float16"));
  }
  if (scenario.is_script) return script_edits::autocast(source, scenario, has_bf16);
  const lang::UserCode code(scenario.loop);
  if (code.mentions("autocast")) return std::nullopt;
  for (const lang::Stmt* statement : code.statements()) {
    if (statement->kind != lang::StmtKind::kWith) continue;
    const auto& items = static_cast<const lang::WithStmt*>(statement)->items;
    if (std::none_of(items.begin(), items.end(),
                     [&](const auto& item) { return is_forward_phase(code, *item.manager); }))
      continue;
    const std::uint32_t at = code.extent(*items[0].manager).begin;
    return edit_loop(scenario, {{{at, at},
                                 fmt::format("torch.autocast(\"cuda\", {}), ",
                                             has_bf16 ? "torch.bfloat16" : "torch.float16")}});
  }
  return std::nullopt;
}

/// Batches of a half, a quarter, ... with as many more backward passes: the step sees the same
/// samples.
Applied micro_batch(const ScenarioSource& source, const Scenario& scenario, unsigned level) {
  if (!scenario.train) return script_edits::micro_batches(source, scenario, level);
  if (scenario.train->batch.is_list || scenario.train->batch.values.empty()) return std::nullopt;
  const TrainSpec& train = *scenario.train;
  if (train.no_grad || train.forward_only || train.step_in_backward) return std::nullopt;
  const auto batch = integer_of(scenario, train.batch.values.front());
  const auto accumulate = integer_of(scenario, train.accumulate);
  const std::int64_t parts = std::int64_t{1} << level;
  if (!batch || !accumulate || *batch % parts != 0) return std::nullopt;
  return Change{{{"train.batch", std::to_string(*batch / parts)},
                 {"train.accumulate", std::to_string(*accumulate * parts)}},
                fmt::format("batch {} -> {}, gradients accumulated over {}", *batch, *batch / parts,
                            *accumulate * parts)};
}

Applied smaller_batch(const ScenarioSource& source, const Scenario& scenario, unsigned level) {
  const std::optional<Quantity> batch = find_quantity(source, "batch");
  if (!batch && scenario.is_script) return script_edits::smaller_batches(source, scenario, level);
  if (!batch || batch->value >> level == 0) return std::nullopt;
  return quantity_change("batch", *batch, batch->value >> level);
}

/// The level-th place where the loop keeps a tensor: its value goes to the host, without its graph.
Applied keep_numbers(const ScenarioSource& source, const Scenario& scenario, unsigned level) {
  if (scenario.is_script) return script_edits::keep_numbers(source, scenario, level);
  if (!has_own_loop(scenario)) return std::nullopt;
  const lang::UserCode code(scenario.loop);
  std::vector<const lang::Expr*> values = kept_values(code);
  std::erase_if(values, [&](const lang::Expr* value) { return !may_hold_memory(code, *value); });
  if (values.size() < level) return std::nullopt;
  return edit_loop(scenario, {to_host(code, *values[level - 1])});
}

Applied no_grad(const ScenarioSource& source, const Scenario& scenario, unsigned /*level*/) {
  if (scenario.train) {
    if (!scenario.train->forward_only || scenario.train->no_grad) return std::nullopt;
    return Change{{{"train.forward_only", "false"}, {"train.no_grad", "true"}},
                  "forward under torch.no_grad()"};
  }
  return script_edits::no_gradients(source, scenario);
}

Applied others_away(const ScenarioSource& /*source*/, const Scenario& scenario,
                    unsigned /*level*/) {
  if (scenario.other_bytes == 0) return std::nullopt;
  return Change{{{"device.other", "0"}}, "end the other processes on this GPU"};
}

Applied whole_device(const ScenarioSource& /*source*/, const Scenario& scenario,
                     unsigned /*level*/) {
  if (!scenario.memory_fraction || *scenario.memory_fraction >= 1) return std::nullopt;
  return Change{{{"allocator.memory_fraction", "1.0"}}, "no set_per_process_memory_fraction()"};
}

Applied pure_bf16(const ScenarioSource& source, const Scenario& scenario, unsigned level) {
  if (!scenario.train && scenario.device.compute_capability >= 80)
    return script_edits::bfloat16_weights(source, scenario, level);
  if (level > 1) return std::nullopt;
  if (!scenario.train || scenario.train->precision == TrainSpec::Precision::kBf16 ||
      scenario.train->precision == TrainSpec::Precision::kFp16 ||
      scenario.device.compute_capability < 80)
    return std::nullopt;
  return set_train("precision", "bf16", "model and inputs in bfloat16");
}

/// An edit of code: of a script, a loop, a model's text.
template <script_edits::Edited (*kEdit)(const ScenarioSource&, const Scenario&)>
Applied of_code(const ScenarioSource& source, const Scenario& scenario, unsigned /*level*/) {
  return kEdit(source, scenario);
}

/// An edit of a loop's code, or a key of `train` in its place.
template <script_edits::Edited (*kEdit)(const ScenarioSource&, const Scenario&),
          train_edits::Edited (*kKey)(const Scenario&)>
Applied of_loop(const ScenarioSource& source, const Scenario& scenario, unsigned /*level*/) {
  return scenario.train ? kKey(scenario) : kEdit(source, scenario);
}

Applied selective_checkpoint(const ScenarioSource& source, const Scenario& scenario,
                             unsigned /*level*/) {
  if (scenario.train && (scenario.train->no_grad || scenario.train->forward_only))
    return std::nullopt;
  return script_edits::selective_checkpoint(source, scenario);
}

/// Where the model computes it, and where `train` does.
Applied chunked_loss(const ScenarioSource& source, const Scenario& scenario, unsigned /*level*/) {
  if (scenario.train) {
    if (Applied own = train_edits::chunked_loss(scenario)) return own;
  }
  return script_edits::chunked_loss(source, scenario);
}

Applied low_rank(const ScenarioSource& source, const Scenario& scenario, unsigned /*level*/) {
  return scenario.train ? train_edits::low_rank(source, scenario, false)
                        : script_edits::low_rank(source, scenario);
}

Applied low_rank_in_four_bits(const ScenarioSource& source, const Scenario& scenario,
                              unsigned /*level*/) {
  return scenario.train ? train_edits::low_rank(source, scenario, true)
                        : script_edits::low_rank_in_four_bits(source, scenario);
}

Applied adafactor(const ScenarioSource& source, const Scenario& scenario, unsigned /*level*/) {
  constexpr Version kHasAdafactor{2, 5};
  if (scenario.wheel.pytorch < kHasAdafactor) return std::nullopt;
  if (scenario.train) return train_edits::adafactor(scenario);
  return script_edits::other_optimizer(source, scenario, "Adafactor", "state of rows and columns");
}

Applied plain_sgd(const ScenarioSource& source, const Scenario& scenario, unsigned /*level*/) {
  if (!scenario.train)
    return script_edits::other_optimizer(source, scenario, "SGD", "no optimizer state");
  if (scenario.train->optimizer == "torch.optim.SGD" || scenario.train->no_grad ||
      scenario.train->forward_only)
    return std::nullopt;
  return set_train("optimizer", "SGD(lr=0.1)", "SGD without momentum: no optimizer state");
}

Applied larger_device(const ScenarioSource& /*source*/, const Scenario& scenario, unsigned level) {
  constexpr std::array<std::string_view, 7> kLadder{
      "rtx-4060", "rtx-3060", "t4", "rtx-4090", "a100-sxm-40gb", "h100-sxm-80gb", "h200-sxm-141gb"};
  constexpr std::array<Bytes, 7> kAbout{8, 12, 15, 24, 40, 80, 141};
  unsigned above = 0;
  for (std::size_t i = 0; i < kLadder.size(); ++i) {
    if (kAbout[i] * kGiB <= scenario.device.total_bytes + kGiB) continue;
    if (++above != level) continue;
    return Change{{{"device", std::string(kLadder[i])}},
                  fmt::format("a device with more memory: {}", kLadder[i])};
  }
  return std::nullopt;
}

/// fully_shard over 2, 4, 8, ... GPUs of the kind; each has the batch that the one has now.
Applied shard(const ScenarioSource& source, const Scenario& scenario, unsigned level) {
  if (scenario.is_script) return script_edits::shard(source, scenario, level);
  const int now = scenario.rank ? scenario.rank->world : 1;
  const int world = 1 << level;
  if (!scenario.train || scenario.train->no_grad || scenario.train->forward_only ||
      !scenario.train->ddp_world.empty() || world <= now ||
      (!scenario.rank && scenario.device_count > 1))
    return std::nullopt;
  std::vector<Override> overrides{{"ranks.world", std::to_string(world)}};
  if (!scenario.train->parallel) overrides.push_back({"train.parallel.reshard", "true"});
  return Change{std::move(overrides),
                fmt::format("sharded over {} GPUs by fully_shard, each with this batch", world)};
}

/// The layers of the scenario's plan split over 2, 4, 8 GPUs of a machine, which see one batch
/// together; as many such groups as there are now.
Applied split_layers(const ScenarioSource& /*source*/, const Scenario& scenario, unsigned level) {
  const std::int64_t parts = std::int64_t{1} << level;
  if (!scenario.train || !scenario.train->parallel || scenario.train->parallel->plan.empty())
    return std::nullopt;
  const auto now = integer_of(scenario, scenario.train->parallel->tp);
  if (!now || *now < 1 || parts <= *now) return std::nullopt;
  const std::int64_t world = (scenario.rank ? scenario.rank->world : 1) / *now * parts;
  return Change{
      {{"ranks.world", std::to_string(world)}, {"train.parallel.tp", std::to_string(parts)}},
      fmt::format("each layer of the plan split over {} GPUs, {} in all", parts, world)};
}

constexpr unsigned kHalvings = 8;
constexpr std::array kRemedies{
    Remedy{"free-outside", Price::kNothing, {}, 1, others_away},
    Remedy{"whole-device", Price::kNothing, {}, 1, whole_device},
    Remedy{"keep-numbers", Price::kNothing, "each .cpu() waits for the GPU", 8, keep_numbers,
           Levels::kPlaces},
    Remedy{"no-grad", Price::kNothing, "for validation and inference only", 1, no_grad},
    Remedy{"set-to-none", Price::kNothing, {}, 1, set_to_none},
    Remedy{"zero-grad-early", Price::kNothing, {}, 1, zero_grad_early},
    Remedy{"del-outputs", Price::kNothing, {}, 1, del_outputs},
    Remedy{"bucket-view", Price::kNothing, "gradients may not be detached in place", 1,
           bucket_view},
    Remedy{"fused-optimizer", Price::kNothing, {}, 1, fused},
    Remedy{"expandable-segments", Price::kNothing, {}, 1, expandable},
    Remedy{"roundup", Price::kNothing, "each block may grow by an eighth", 1, roundup},
    Remedy{"empty-cache", Price::kTime, "the driver is asked again in each step", 1, empty_cache},
    Remedy{"for-loop-optimizer", Price::kTime, "one kernel a tensor and operation", 1, one_by_one},
    Remedy{"step-in-backward", Price::kTime, "gradients are never there together", 1,
           of_loop<script_edits::step_in_backward, train_edits::step_in_backward>},
    Remedy{"offload", Price::kTime, "the link to the host may be slower than what it saves", 1,
           of_loop<script_edits::offload_activations, train_edits::offload_activations>},
    Remedy{"optimizer-on-host", Price::kTime,
           "the host computes each step, and all weights and gradients go over the link", 1,
           of_loop<script_edits::optimizer_on_host, train_edits::optimizer_on_host>},
    Remedy{"selective-checkpoint", Price::kTime, "what is cheap is computed again", 1,
           selective_checkpoint},
    Remedy{"checkpoint", Price::kTime, "about one more forward a step", 1, checkpoint},
    Remedy{"micro-batch", Price::kTime, "a batch norm would see smaller batches", kHalvings,
           micro_batch},
    Remedy{"autocast", Price::kNumbers, "half copies of the weights may cost more than they save",
           1, autocast},
    Remedy{"attention-kernel", Price::kNumbers, "one kernel, no matrix of weights", 1,
           of_code<script_edits::attention_kernel>},
    Remedy{"chunked-loss", Price::kNumbers, "the gradient is in the logits' type", 1, chunked_loss},
    Remedy{
        "smaller-batch", Price::kTraining, {}, kHalvings, smaller_batch, Levels::kDegrees, "batch"},
    Remedy{"bf16", Price::kTraining, "weights and optimizer state in bfloat16 too", 3, pure_bf16,
           Levels::kWays},
    Remedy{"adafactor", Price::kTraining, "another optimizer: its learning rate is another", 1,
           adafactor},
    Remedy{"eight-bit-adam", Price::kTraining, "both averages are rounded each step", 1,
           of_loop<script_edits::eight_bit_adam, train_edits::eight_bit_adam>},
    Remedy{"low-rank", Price::kTraining, "LoRA: only small matrices learn", 1, low_rank},
    Remedy{"low-rank-four-bits", Price::kTraining, "QLoRA: the weights at rest are rounded", 1,
           low_rank_in_four_bits},
    Remedy{"packing", Price::kTraining, "steps see other samples together", 1,
           of_code<script_edits::pack_samples>},
    Remedy{"sgd", Price::kTraining, {}, 1, plain_sgd},
    Remedy{"shard", Price::kMachine, "a step sees as many batches as there are GPUs", 6, shard},
    Remedy{"split-layers", Price::kMachine, "GPUs of one machine wait for each other in each layer",
           3, split_layers},
    Remedy{"larger-device", Price::kMachine, {}, 7, larger_device},
};

}  // namespace

void append(Change& change, const Change& more) {
  change.overrides.insert(change.overrides.end(), more.overrides.begin(), more.overrides.end());
  for (const auto& [path, text] : more.files) change.files[path] = text;
  change.text += (change.text.empty() ? "" : "; ") + more.text;
}

ScenarioSource changed(const ScenarioSource& source, const Change& change) {
  ScenarioSource out = overridden(source, change.overrides);
  if (change.files.empty()) return out;
  EditedFiles files = out.edited ? *out.edited : EditedFiles();
  for (const auto& [path, text] : change.files) files[path] = text;
  out.edited = std::make_shared<const EditedFiles>(std::move(files));
  return out;
}

std::string change_options(const Change& change) {
  std::string out;
  if (!change.files.empty()) return out;
  for (const Override& one : change.overrides) {
    if (one.path == "loop") return {};
    const bool needs_quotes = one.value.find_first_of(" \"()&|;<>*$") != std::string::npos;
    out += fmt::format("{}--set {}{}={}{}", out.empty() ? "" : " ", needs_quotes ? "'" : "",
                       one.path, one.value, needs_quotes ? "'" : "");
  }
  return out;
}

Change quantity_change(std::string_view word, const Quantity& now, std::int64_t value) {
  return {{{now.path, std::to_string(value)}}, fmt::format("{} {} -> {}", word, now.value, value)};
}

void Combination::add(const Remedy& remedy, const Change& more) {
  remedies.push_back(&remedy);
  append(change, more);
  price = std::max(price, remedy.price);
}

std::span<const Remedy> remedies() { return kRemedies; }

const Remedy* find_remedy(std::string_view id) {
  const auto found = std::find_if(kRemedies.begin(), kRemedies.end(),
                                  [&](const Remedy& remedy) { return remedy.id == id; });
  return found == kRemedies.end() ? nullptr : &*found;
}

}  // namespace tidemark
