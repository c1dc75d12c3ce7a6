#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tidemark::ops {

/// A record of sim/ops/records as it is written, for people.
struct OpRecord {
  std::string_view op;    ///< "add"
  std::string_view name;  ///< "add.Tensor"
  std::string_view file;  ///< "sim/ops/records/binary.yaml"
  std::uint32_t line;
  std::string_view source;        ///< the section of docs/rules that says so
  std::string_view not_modelled;  ///< what is left out of it; empty: nothing
  std::string_view text;
};

/// All of them, in the order of the files.
std::span<const OpRecord> op_records();

}  // namespace tidemark::ops
