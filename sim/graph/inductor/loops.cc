#include "sim/graph/inductor/loops.h"

#include <algorithm>

namespace tidemark::graph::inductor {

Trace::Value Trace::op(std::string_view name, std::initializer_list<Value> operands) {
  Value value = std::hash<std::string_view>{}(name);
  for (const Value operand : operands) value = mixed(value, operand);
  return note(value);
}

Trace::Value Trace::load(BufferId buffer, const Index& index) {
  const Value value = mixed(mixed(hash_of(index), buffer), 0x10adULL ^ kept_apart);
  if (seen_.count(value) == 0) {
    loads.push_back({buffer, index});
    if (!index.digits.empty() || index.mark != 0) ++moving_loads;
  }
  return note(value);
}

std::int64_t Buffer::elements() const {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    last += (sizes[i] - 1) * strides[i];
  }
  return last + 1;
}

Indices counters_of(const ops::Dims& sizes, const ops::Dims& reduced) {
  Indices indices;
  int loop = 0;
  for (const std::int64_t size : sizes) indices.push_back(counter(loop++, size));
  for (const std::int64_t size : reduced) indices.push_back(counter(loop++, size));
  return indices;
}

std::vector<Access> reads_of(const Loops& loops) {
  Trace trace;
  loops.body(trace, counters_of(loops.sizes, loops.reduced));
  return std::move(trace.loads);
}

}  // namespace tidemark::graph::inductor
