#include "sim/study/remedy.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

#include <fmt/format.h>

#include "sim/base/problem.h"
#include "sim/format/whole_file.h"
#include "sim/lang/yaml.h"
#include "sim/run/literals.h"
#include "sim/run/run.h"

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

bool is_own_loop(const Scenario& scenario) { return !scenario.train && scenario.loop; }

/// The loop's text with [begin, end) replaced, told as the line before and after.
Change edit_loop(const Scenario& scenario, std::size_t begin, std::size_t end,
                 std::string_view replacement) {
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
  return {{{"loop", quoted_literal(after)}},
          fmt::format("line {}: {}  ->  {}", line, line_at(text, begin), line_at(after, begin))};
}

/// Where the bracket that opens at `open` closes; npos: nowhere.
std::size_t closing(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    if (text[at] == '(' || text[at] == '[' || text[at] == '{') ++depth;
    if ((text[at] == ')' || text[at] == ']' || text[at] == '}') && --depth == 0) return at;
  }
  return std::string_view::npos;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

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

Applied fused(const ScenarioSource& /*source*/, const Scenario& scenario, unsigned /*level*/) {
  constexpr std::array<std::string_view, 4> kFused{"Adam", "AdamW", "SGD", "Adagrad"};
  for (const std::string_view name : kFused) {
    const std::string call = fmt::format("torch.optim.{}", name);
    if (scenario.train) {
      const TrainSpec& train = *scenario.train;
      if (train.no_grad || train.forward_only || train.optimizer != call) continue;
      const std::string& given = train.optimizer_arguments;
      if (given.find("fused") != std::string::npos || given.find("foreach") != std::string::npos)
        return std::nullopt;
      const std::string optimizer =
          fmt::format("{}({}{}fused=True)", name, given, given.empty() ? "" : ", ");
      return set_train("optimizer", quoted_literal(optimizer), optimizer);
    }
    const std::string& text = scenario.loop->text;
    const std::size_t at = text.find(call + "(");
    if (at == std::string::npos) continue;
    const std::size_t end = closing(text, at + call.size());
    if (end == std::string::npos) continue;
    const std::string_view given = std::string_view(text).substr(at, end - at);
    if (given.find("fused") == std::string_view::npos &&
        given.find("foreach") == std::string_view::npos)
      return edit_loop(scenario, end, end, ", fused=True");
  }
  return std::nullopt;
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

/// What a text names or is: the value of a parameter, or a number.
std::optional<std::int64_t> integer_of(const Scenario& scenario, const std::string& text) {
  for (const Parameter& parameter : scenario.params) {
    if (parameter.name == text) return parameter.integer;
  }
  lang::YamlNode node;
  node.kind = lang::YamlNode::Kind::kScalar;
  node.text = text;
  return yaml_integer(node);
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

Applied smaller_batch(const ScenarioSource& /*source*/, const Scenario& scenario, unsigned level) {
  std::string path;
  std::optional<std::int64_t> batch;
  for (const Parameter& parameter : scenario.params) {
    const bool is_batch =
        parameter.name == "batch" || parameter.name == "batch_size" || parameter.name == "bs";
    if (!is_batch || !parameter.integer) continue;
    path = "params." + parameter.name;
    batch = parameter.integer;
  }
  if (!batch && scenario.train && !scenario.train->batch.is_list &&
      !scenario.train->batch.values.empty()) {
    path = "train.batch";
    batch = integer_of(scenario, scenario.train->batch.values.front());
  }
  if (!batch || *batch >> level == 0) return std::nullopt;
  return Change{{{path, std::to_string(*batch >> level)}},
                fmt::format("batch {} -> {}", *batch, *batch >> level)};
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
    const std::size_t end = closing(text, at + call.size() - 1);
    if (end == std::string::npos) return std::nullopt;
    return Kept{at + call.size(), end};
  }
  if (rest.starts_with(" += ")) return Kept{at + 4, line_end(text, at)};
  if (rest.starts_with("] = ")) return Kept{at + 4, line_end(text, at)};
  if (!rest.starts_with(" = ")) return std::nullopt;
  std::size_t name = at;
  while (name > 0 && is_word(text[name - 1])) --name;
  const std::string again = text.substr(name, at - name) + " + ";
  if (again.size() == 3 || !rest.substr(3).starts_with(again)) return std::nullopt;
  return Kept{at + 3 + again.size(), line_end(text, at)};
}

/// The level-th place where the loop keeps a tensor: its value goes to the host, without its graph.
Applied keep_numbers(const ScenarioSource& /*source*/, const Scenario& scenario, unsigned level) {
  if (!is_own_loop(scenario)) return std::nullopt;
  const std::string& text = scenario.loop->text;
  unsigned found = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::optional<Kept> kept = kept_at(text, at);
    if (!kept) continue;
    std::string value = text.substr(kept->begin, kept->end - kept->begin);
    if (value.size() > 2 && value.front() == '[' && closing(value, 0) == value.size() - 1) {
      ++kept->begin;
      --kept->end;
      value = value.substr(1, value.size() - 2);
    }
    if (value.empty() || (!is_word(value.back()) && value.back() != ')' && value.back() != ']'))
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
    Remedy{"keep-numbers", Price::kNothing, "each .cpu() waits for the GPU", 8, keep_numbers},
    Remedy{"no-grad", Price::kNothing, "for validation and inference only", 1, no_grad},
    Remedy{"set-to-none", Price::kNothing, {}, 1, set_to_none},
    Remedy{"fused-optimizer", Price::kNothing, {}, 1, fused},
    Remedy{"expandable-segments", Price::kNothing, {}, 1, expandable},
    Remedy{"roundup", Price::kNothing, "each block may grow by an eighth", 1, roundup},
    Remedy{"empty-cache", Price::kTime, "the driver is asked again in each step", 1, empty_cache},
    Remedy{"checkpoint", Price::kTime, "about one more forward a step", 1, checkpoint},
    Remedy{"micro-batch", Price::kTime, "batch norm sees smaller batches", kHalvings, micro_batch},
    Remedy{"autocast", Price::kNumbers, "half copies of the weights may cost more than they save",
           1, autocast},
    Remedy{"smaller-batch", Price::kTraining, {}, kHalvings, smaller_batch},
    Remedy{"bf16", Price::kTraining, "weights and optimizer state in bfloat16 too", 1, pure_bf16},
    Remedy{"sgd", Price::kTraining, {}, 1, plain_sgd},
    Remedy{"larger-device", Price::kTraining, {}, 7, larger_device},
};

}  // namespace

ScenarioSource open_scenario(const std::string& path, std::vector<Override> overrides,
                             std::string variant) {
  std::shared_ptr<const SourceText> text = scenario_text(path);
  std::string folder = std::filesystem::path(path).parent_path().string();
  if (folder.empty() || path == "-") folder = ".";
  return {std::move(text), std::move(folder), std::move(overrides), std::move(variant)};
}

Scenario read_scenario(const ScenarioSource& source) {
  return parse_scenario(source.text, source.folder, source.overrides, source.variant);
}

ScenarioSource changed(const ScenarioSource& source, const Change& change) {
  ScenarioSource out = source;
  out.overrides.insert(out.overrides.end(), change.overrides.begin(), change.overrides.end());
  return out;
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

std::span<const Remedy> remedies() { return kRemedies; }

const Remedy* find_remedy(std::string_view id) {
  const auto found = std::find_if(kRemedies.begin(), kRemedies.end(),
                                  [&](const Remedy& remedy) { return remedy.id == id; });
  return found == kRemedies.end() ? nullptr : &*found;
}

Trial try_scenario(const ScenarioSource& source, bool keep_events, bool keep_times) {
  Trial trial;
  try {
    RunOptions options;
    options.keep_events = keep_events;
    options.keep_live = keep_events;
    options.keep_times = keep_times;
    options.leave_out_repeats = true;
    trial.result = run(read_scenario(source), options);
  } catch (const InputError& error) {
    trial.error = error.problems().front().message;
    return trial;
  } catch (const IoError& error) {
    trial.error = error.what();
    return trial;
  }
  trial.fits = !trial.result.ended_by_oom;
  trial.end_ns = keep_times ? trial.result.end_ns : 0;
  Bytes least_spare = kUnlimitedBytes;
  for (const DeviceResult& device : trial.result.devices) {
    trial.fits = trial.fits && device.ooms.empty();
    trial.peak_allocated = std::max(trial.peak_allocated, device.peak_allocated.bytes);
    trial.peak_reserved = std::max(trial.peak_reserved, device.peak_reserved.bytes);
    trial.retries += device.statistics.num_alloc_retries;
    least_spare = std::min(least_spare, spare_bytes(device));
  }
  trial.spare = least_spare == kUnlimitedBytes ? 0 : least_spare;
  return trial;
}

}  // namespace tidemark
