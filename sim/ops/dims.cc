#include "sim/ops/dims.h"

#include <fmt/format.h>

#include "sim/ops/tensor.h"

namespace tidemark::ops {

void Dims::push_back(std::int64_t value) {
  if (size_ == kMaxDims) {
    throw NotModelled(fmt::format("tensors of more than {} dimensions are not modelled", kMaxDims));
  }
  values_[size_++] = value;
}

void Dims::insert(std::size_t at, std::int64_t value) {
  push_back(0);
  for (std::size_t i = size_ - 1U; i > at; --i) values_[i] = values_[i - 1];
  values_[at] = value;
}

void Dims::erase(std::size_t at) {
  for (std::size_t i = at; i + 1 < size_; ++i) values_[i] = values_[i + 1];
  --size_;
}

void Dims::resize(std::size_t count) {
  while (size_ > count) --size_;
  while (size_ < count) push_back(0);
}

std::string to_string(const Dims& dims) {
  std::string out = "[";
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) out += ", ";
    out += fmt::to_string(dims[i]);
  }
  return out + "]";
}

}  // namespace tidemark::ops
