#include "sim/study/advice/remedy.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "sim/run/literals.h"
#include "sim/run/yaml_path.h"
#include "sim/study/advice/code_edit.h"

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

/// The loop's text with [begin, end) replaced, told as the line before and after.
Applied edit_loop(const Scenario& scenario, std::size_t begin, std::size_t end,
                  std::string_view replacement) {
  if (!has_own_loop(scenario)) return std::nullopt;
  const std::string& text = scenario.loop->text;
  const auto line_at = [](const std::string& all, std::size_t at) {
    const std::size_t from = at == 0 ? 0 : all.rfind('\n', at - 1) + 1;
    std::string line = all.substr(from, all.find('\n', at) - from);
    line.erase(0, line.find_first_not_of(' '));
    return line;
  };
  std::string after = text;
  after.replace(begin, end - begin, replacement);
  const std::size_t line = static_cast<std::size_t>(std::count(
                               text.begin(), text.begin() + static_cast<long>(begin), '\n')) +
                           scenario.loop->first_line;
  return Change{
      {loop_with(scenario, begin, end, replacement)},
      fmt::format("line {}: {}  ->  {}", line, line_at(text, begin), line_at(after, begin))};
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

Applied set_to_none(const ScenarioSource& /*source*/, const Scenario& scenario,
                    unsigned /*level*/) {
  if (scenario.train) {
    if (scenario.train->set_to_none) return std::nullopt;
    return set_train("set_to_none", "true", "zero_grad(set_to_none=True)");
  }
  constexpr std::string_view kOff = "set_to_none=False";
  const std::size_t at = scenario.loop->text.find(kOff);
  if (at == std::string::npos) return std::nullopt;
  return edit_loop(scenario, at, at + kOff.size(), "set_to_none=True");
}

/// One more argument for an optimizer of torch.optim, where it says nothing of fused or foreach.
Applied give_optimizer(const Scenario& scenario, std::span<const std::string_view> names,
                       std::string_view argument) {
  const auto is_open = [](std::string_view given) {
    return given.find("fused") == std::string_view::npos &&
           given.find("foreach") == std::string_view::npos;
  };
  for (const std::string_view name : names) {
    const std::string call = fmt::format("torch.optim.{}", name);
    if (scenario.train) {
      const TrainSpec& train = *scenario.train;
      if (train.no_grad || train.forward_only || train.optimizer != call) continue;
      const std::string& given = train.optimizer_arguments;
      if (!is_open(given)) return std::nullopt;
      const std::string optimizer =
          fmt::format("{}({}{}{})", name, given, given.empty() ? "" : ", ", argument);
      return set_train("optimizer", quoted_literal(optimizer), optimizer);
    }
    const std::string& text = scenario.loop->text;
    const std::size_t at = text.find(call + "(");
    if (at == std::string::npos) continue;
    const std::size_t end = closing_bracket(text, at + call.size());
    if (end == std::string::npos) continue;
    if (is_open(std::string_view(text).substr(at, end - at)))
      return edit_loop(scenario, end, end, fmt::format(", {}", argument));
  }
  return std::nullopt;
}

Applied fused(const ScenarioSource& /*source*/, const Scenario& scenario, unsigned /*level*/) {
  constexpr std::string_view kNames[] = {"Adam", "AdamW", "SGD", "Adagrad"};
  return give_optimizer(scenario, kNames, "fused=True");
}

Applied one_by_one(const ScenarioSource& /*source*/, const Scenario& scenario, unsigned /*level*/) {
  constexpr std::string_view kNames[] = {"Adam",    "AdamW",    "SGD",    "Adagrad",
                                         "RMSprop", "Adadelta", "Adamax", "NAdam",
                                         "RAdam",   "ASGD",     "Rprop"};
  return give_optimizer(scenario, kNames, "foreach=False");
}

Applied del_outputs(const ScenarioSource& /*source*/, const Scenario& scenario,
                    unsigned /*level*/) {
  if (!scenario.train || scenario.train->del_outputs) return std::nullopt;
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
      scenario.train->ddp_arguments.find("gradient_as_bucket_view") != std::string::npos)
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

Applied checkpoint(const ScenarioSource& /*source*/, const Scenario& scenario, unsigned /*level*/) {
  if (Applied own = switch_on(scenario, "checkpoint", "checkpointing, by the scenario's switch"))
    return own;
  const auto& model = scenario.model.source;
  const bool heeds = model && model->text.find("checkpoint_mode") != std::string::npos;
  if (!heeds) return std::nullopt;
  if (scenario.train) {
    if (scenario.train->checkpoint != TrainSpec::Checkpoint::kNone || scenario.train->no_grad)
      return std::nullopt;
    return set_train("checkpoint", "every-block", "checkpoint every block of the model");
  }
  if (scenario.loop->text.find("checkpoint_mode") != std::string::npos) return std::nullopt;
  return edit_loop(scenario, 0, 0, "model.checkpoint_mode = \"every-block\"\n");
}

Applied autocast(const ScenarioSource& /*source*/, const Scenario& scenario, unsigned /*level*/) {
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
  const std::string& text = scenario.loop->text;
  if (text.find("autocast") != std::string::npos) return std::nullopt;
  for (const std::string_view opening : {"with phase(f\"forward", "with phase(\"forward"}) {
    const std::size_t at = text.find(opening);
    if (at == std::string::npos) continue;
    return edit_loop(scenario, at, at + 5,
                     fmt::format("with torch.autocast(\"cuda\", {}), ",
                                 has_bf16 ? "torch.bfloat16" : "torch.float16"));
  }
  return std::nullopt;
}

/// Batches of a half, a quarter, ... with as many more backward passes: the step sees the same
/// samples.
Applied micro_batch(const ScenarioSource& /*source*/, const Scenario& scenario, unsigned level) {
  if (!scenario.train || scenario.train->batch.is_list || scenario.train->batch.values.empty())
    return std::nullopt;
  const TrainSpec& train = *scenario.train;
  if (train.no_grad || train.forward_only) return std::nullopt;
  const auto batch = integer_of(scenario, train.batch.values.front());
  const auto accumulate = integer_of(scenario, train.accumulate);
  const std::int64_t parts = std::int64_t{1} << level;
  if (!batch || !accumulate || *batch % parts != 0) return std::nullopt;
  return Change{{{"train.batch", std::to_string(*batch / parts)},
                 {"train.accumulate", std::to_string(*accumulate * parts)}},
                fmt::format("batch {} -> {}, gradients accumulated over {}", *batch, *batch / parts,
                            *accumulate * parts)};
}

Applied smaller_batch(const ScenarioSource& source, const Scenario& /*scenario*/, unsigned level) {
  const std::optional<Quantity> batch = find_quantity(source, "batch");
  if (!batch || batch->value >> level == 0) return std::nullopt;
  return quantity_change("batch", *batch, batch->value >> level);
}

/// What a line keeps beyond it: [begin, end) of the loop's text.
struct Kept {
  std::size_t begin = 0;
  std::size_t end = 0;
};

std::size_t line_end(const std::string& text, std::size_t at) {
  return std::min(text.find('\n', at), text.size());
}

/// `x.append(VALUE)`, `x.add(VALUE)`, `x += VALUE`, `x = x + VALUE`, `x[key] = VALUE`, from `at`
/// on.
std::optional<Kept> kept_at(const std::string& text, std::size_t at) {
  const std::string_view rest = std::string_view(text).substr(at);
  for (const std::string_view call : {".append(", ".appendleft(", ".add("}) {
    if (!rest.starts_with(call)) continue;
    const std::size_t end = closing_bracket(text, at + call.size() - 1);
    if (end == std::string::npos) return std::nullopt;
    return Kept{at + call.size(), end};
  }
  if (rest.starts_with(" += ")) return Kept{at + 4, line_end(text, at)};
  if (rest.starts_with("] = ")) return Kept{at + 4, line_end(text, at)};
  if (!rest.starts_with(" = ")) return std::nullopt;
  std::size_t name = at;
  while (name > 0 && is_word_character(text[name - 1])) --name;
  const std::string again = text.substr(name, at - name) + " + ";
  if (again.size() == 3 || !rest.substr(3).starts_with(again)) return std::nullopt;
  return Kept{at + 3 + again.size(), line_end(text, at)};
}

/// The level-th place where the loop keeps a tensor: its value goes to the host, without its graph.
Applied keep_numbers(const ScenarioSource& /*source*/, const Scenario& scenario, unsigned level) {
  if (!has_own_loop(scenario)) return std::nullopt;
  const std::string& text = scenario.loop->text;
  unsigned found = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::optional<Kept> kept = kept_at(text, at);
    if (!kept) continue;
    std::string value = text.substr(kept->begin, kept->end - kept->begin);
    if (value.size() > 2 && value.front() == '[' && closing_bracket(value, 0) == value.size() - 1) {
      ++kept->begin;
      --kept->end;
      value = value.substr(1, value.size() - 2);
    }
    if (value.empty() ||
        (!is_word_character(value.back()) && value.back() != ')' && value.back() != ']'))
      continue;
    if (value.front() == '"' || std::isdigit(static_cast<unsigned char>(value.front())) != 0)
      continue;
    const bool is_choice = value.find(" if ") != std::string::npos;
    const bool is_number = value.find(".item()") != std::string::npos ||
                           value.find(".cpu()") != std::string::npos ||
                           value.starts_with("float(") || value.starts_with("int(");
    if (is_number && !is_choice) continue;
    if (++found != level) continue;
    const bool is_simple = value.find(' ') == std::string::npos;
    return edit_loop(
        scenario, kept->begin, kept->end,
        is_simple ? value + ".detach().cpu()" : fmt::format("({}).detach().cpu()", value));
  }
  return std::nullopt;
}

Applied no_grad(const ScenarioSource& /*source*/, const Scenario& scenario, unsigned /*level*/) {
  if (scenario.train) {
    if (!scenario.train->forward_only || scenario.train->no_grad) return std::nullopt;
    return Change{{{"train.forward_only", "false"}, {"train.no_grad", "true"}},
                  "forward under torch.no_grad()"};
  }
  const std::string& text = scenario.loop->text;
  if (text.find(".backward(") != std::string::npos || text.find("no_grad") != std::string::npos ||
      text.find("set_grad_enabled") != std::string::npos)
    return std::nullopt;
  return edit_loop(scenario, 0, 0, "torch.set_grad_enabled(False)\n");
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

Applied pure_bf16(const ScenarioSource& /*source*/, const Scenario& scenario, unsigned /*level*/) {
  if (!scenario.train || scenario.train->precision == TrainSpec::Precision::kBf16 ||
      scenario.train->precision == TrainSpec::Precision::kFp16 ||
      scenario.device.compute_capability < 80)
    return std::nullopt;
  return set_train("precision", "bf16", "model and inputs in bfloat16");
}

Applied plain_sgd(const ScenarioSource& /*source*/, const Scenario& scenario, unsigned /*level*/) {
  if (!scenario.train || scenario.train->optimizer == "torch.optim.SGD" ||
      scenario.train->no_grad || scenario.train->forward_only)
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
    Remedy{"checkpoint", Price::kTime, "about one more forward a step", 1, checkpoint},
    Remedy{"micro-batch", Price::kTime, "a batch norm would see smaller batches", kHalvings,
           micro_batch},
    Remedy{"autocast", Price::kNumbers, "half copies of the weights may cost more than they save",
           1, autocast},
    Remedy{
        "smaller-batch", Price::kTraining, {}, kHalvings, smaller_batch, Levels::kDegrees, "batch"},
    Remedy{"bf16", Price::kTraining, "weights and optimizer state in bfloat16 too", 1, pure_bf16},
    Remedy{"sgd", Price::kTraining, {}, 1, plain_sgd},
    Remedy{"larger-device", Price::kMachine, {}, 7, larger_device},
};

}  // namespace

void append(Change& change, const Change& more) {
  change.overrides.insert(change.overrides.end(), more.overrides.begin(), more.overrides.end());
  change.text += (change.text.empty() ? "" : "; ") + more.text;
}

ScenarioSource changed(const ScenarioSource& source, const Change& change) {
  return overridden(source, change.overrides);
}

std::string change_options(const Change& change) {
  std::string out;
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
