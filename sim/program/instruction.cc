#include "sim/program/instruction.h"

namespace tidemark {

Labels::Labels() { intern(""); }

LabelId Labels::intern(std::string_view text) {
  if (const auto found = index_.find(text); found != index_.end()) return found->second;
  const auto id = static_cast<LabelId>(texts_.size());
  const auto inserted = index_.emplace(std::string(text), id).first;
  texts_.push_back(inserted->first);
  return id;
}

}  // namespace tidemark
