#include "sim/torch/tensors/call_scope.h"

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "sim/ops/tracer.h"

namespace tidemark::torch {

namespace {

/// The arguments that are no tensors.
struct SettingText {
  std::string text;
  void operator()(ops::None) { text += "None"; }
  void operator()(const ops::Tensor&) { text += "tensor"; }
  void operator()(const ops::TensorList& list) { text += fmt::format("{} tensors", list.size()); }
  void operator()(ops::Device device) { text += fmt::format("device {}", device.index); }
  void operator()(ops::ScalarType type) { text += ops::info(type).name; }
  void operator()(ops::MemoryFormat format) {
    text += fmt::format("format {}", static_cast<int>(format));
  }
  void operator()(const ops::Dims& dims) { text += to_string(dims); }
  void operator()(const std::string& word) { text += word; }
  template <class T>
  void operator()(const std::vector<T>& numbers) {
    text += fmt::format("{}", fmt::join(numbers, " "));
  }
  template <class T>
  void operator()(T number) {
    text += fmt::format("{}", number);
  }
};

}  // namespace

void CallScope::begin(std::string_view name, const ops::Arguments& arguments) {
  SettingText settings{std::string(name)};
  std::vector<const ops::Tensor*> tensors;
  for (std::size_t i = 0; i < arguments.count(); ++i) {
    settings.text += ", ";
    std::visit(settings, arguments.value(i));
    if (const auto* tensor = std::get_if<ops::Tensor>(&arguments.value(i)))
      tensors.push_back(tensor);
  }
  tracer_->begin_call(std::move(settings.text), tensors);
}

CallScope::CallScope(ops::Tracer* tracer, std::string_view text,
                     const std::vector<const ops::Tensor*>& tensors)
    : tracer_(tracer) {
  if (tracer_ != nullptr) tracer_->begin_call(std::string(text), tensors);
}

void CallScope::end() { tracer_->end_call(); }

}  // namespace tidemark::torch
