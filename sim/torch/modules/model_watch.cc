#include "sim/torch/modules/model_watch.h"

#include <fmt/format.h>

#include "sim/torch/modules/module_object.h"
#include "sim/torch/tensors/tensor_object.h"

namespace tidemark::torch {

using lang::Value;

namespace {

/// "[64, 10]", "([64, 10], [64])", "{logits: [64, 10]}"; else the type's name.
std::string shape_text(lang::Interp& interp, const Value& value, int nested = 0) {
  constexpr int kDeepest = 3;
  if (const auto* tensor = value.as<TensorObject>()) return to_string(tensor->tensor.sizes());
  std::vector<std::string> parts;
  if (const auto* dict = value.as<lang::Dict>(); dict != nullptr && nested < kDeepest) {
    const std::vector<lang::ValueTable::Entry> entries = dict->table.entries();
    for (const auto& entry : entries) {
      if (entry.key.empty()) continue;
      parts.push_back(fmt::format("{}: {}", interp.to_str(entry.key),
                                  shape_text(interp, entry.value, nested + 1)));
    }
    return fmt::format("{{{}}}", fmt::join(parts, ", "));
  }
  const auto* tuple = value.as<lang::Tuple>();
  const auto* list = value.as<lang::List>();
  if ((tuple == nullptr && list == nullptr) || nested >= kDeepest) return interp.type_name(value);
  const std::vector<Value> items = tuple != nullptr ? tuple->items : list->items.all();
  for (const Value& item : items) parts.push_back(shape_text(interp, item, nested + 1));
  return fmt::format("({})", fmt::join(parts, ", "));
}

}  // namespace

std::string call_begins(std::size_t model) { return fmt::format("model {} begins", model); }
std::string call_ends(std::size_t model) { return fmt::format("model {} ends", model); }

void ModelWatch::walk(ModuleObject& module, const std::string& path, std::uint32_t depth,
                      WatchedModel& model, std::set<const ops::TensorImpl*>& seen) {
  lang::Interp& interp = session_.interp;
  const std::size_t at = model.modules.size();
  places_[&module] = {into_.size(), at};
  WatchedModule own;
  own.type = interp.text(module.type().name());
  own.path = depth == 0 ? own.type : path;
  own.depth = depth;
  for (const auto& entry : module.parameters.entries()) {
    const auto* tensor = entry.value.as<TensorObject>();
    if (tensor == nullptr || !seen.insert(tensor->tensor.impl()).second) continue;
    const auto count = static_cast<std::uint64_t>(tensor->tensor.numel());
    own.parameters += count;
    own.parameter_bytes += tensor->tensor.bytes();
    if (tensor->tensor.requires_grad()) own.trainable_parameters += count;
  }
  for (const auto& entry : module.buffers.entries()) {
    const auto* tensor = entry.value.as<TensorObject>();
    if (tensor != nullptr && seen.insert(tensor->tensor.impl()).second)
      own.buffer_bytes += tensor->tensor.bytes();
  }
  model.modules.push_back(own);
  for (const auto& entry : module.modules.entries()) {
    auto* child = entry.value.as<ModuleObject>();
    if (child == nullptr) continue;
    const auto known = places_.find(child);
    if (known != places_.end() && known->second.first == into_.size()) continue;  // used twice
    const std::string name(interp.text(entry.name));
    const std::size_t first = model.modules.size();
    walk(*child, depth == 0 ? name : path + "." + name, depth + 1, model, seen);
    const WatchedModule& below = model.modules[first];
    model.modules[at].parameters += below.parameters;
    model.modules[at].trainable_parameters += below.trainable_parameters;
    model.modules[at].parameter_bytes += below.parameter_bytes;
    model.modules[at].buffer_bytes += below.buffer_bytes;
  }
}

void ModelWatch::add(ModuleObject& model) {
  if (places_.contains(&model)) return;
  WatchedModel watched;
  std::set<const ops::TensorImpl*> seen;
  walk(model, "", 0, watched, seen);
  into_.push_back(std::move(watched));
}

void ModelWatch::mark(const std::string& name) { session_.emitter.measure(name, ops::Device{0}); }

void ModelWatch::enter(ModuleObject& module, bool is_model) {
  if (!is_model) return;
  add(module);
  mark(call_begins(places_[&module].first));
}

void ModelWatch::leave(ModuleObject& module, const Value& result, bool is_model) {
  const auto place = places_.find(&module);
  if (place != places_.end()) {
    std::string& output = into_[place->second.first].modules[place->second.second].output;
    if (output.empty()) output = shape_text(session_.interp, result);
  }
  if (is_model) mark(call_ends(places_[&module].first));
}

}  // namespace tidemark::torch
