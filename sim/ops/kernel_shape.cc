#include "sim/ops/kernel_shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tidemark::ops {

namespace {

void add(std::vector<Operand>& operands, const Tensor& t) {
  if (!t.defined() || !t->storage || !t.is_cuda()) return;
  operands.push_back({t.sizes(), t.strides(), t->offset, t.dtype(), t->storage->request()});
}

bool is_contiguous(const Operand& operand) {
  std::int64_t wanted = 1;
  for (std::size_t i = operand.sizes.size(); i-- > 0;) {
    if (operand.sizes[i] != 1 && operand.strides[i] != wanted) return false;
    wanted *= operand.sizes[i];
  }
  return true;
}

std::string operand_text(const Operand& operand) {
  std::string out = fmt::format("{}[{}]", info(operand.dtype).name, dims_text(operand.sizes));
  if (!is_contiguous(operand)) out += ":" + dims_text(operand.strides);
  if (operand.offset != 0) out += fmt::format("+{}", operand.offset);
  return out;
}

}  // namespace

void KernelShape::reads(const Tensor& t) { add(inputs, t); }
void KernelShape::writes(const Tensor& t) { add(outputs, t); }

ShapeTaker* shape_taker(const Context& c) {
  auto* taker = dynamic_cast<ShapeTaker*>(&c.recorder());
  return taker != nullptr && taker->asks() ? taker : nullptr;
}

void works_on(const Context& c, std::initializer_list<const Tensor*> inputs,
              std::initializer_list<const Tensor*> outputs, std::string_view settings) {
  ShapeTaker* taker = shape_taker(c);
  if (taker == nullptr) return;
  KernelShape shape;
  for (const Tensor* t : inputs) shape.reads(*t);
  for (const Tensor* t : outputs) shape.writes(*t);
  shape.settings = settings;
  if (!shape.outputs.empty()) taker->take_shape(shape);
}

std::string dims_text(const Dims& dims) {
  return fmt::format("{}", fmt::join(dims.begin(), dims.end(), ","));
}

std::string kernel_text(const KernelShape& shape) {
  std::string out;
  for (const Operand& operand : shape.inputs) out += operand_text(operand) + " ";
  out += "->";
  for (const Operand& operand : shape.outputs) out += " " + operand_text(operand);
  if (!shape.settings.empty()) out += " " + shape.settings;
  return out;
}

}  // namespace tidemark::ops
