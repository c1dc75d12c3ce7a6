#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tidemark {

/// A cell of a table.
struct ResultsValue {
  enum class Kind : std::uint8_t { kNull, kInteger, kText };
  Kind kind = Kind::kNull;
  std::int64_t integer = 0;
  std::string text;
  friend bool operator==(const ResultsValue&, const ResultsValue&) = default;
};

/// Rows and columns, for any report.
struct ResultsTable {
  struct Column {
    std::string name;
    enum class Unit : std::uint8_t {
      kNone,
      kBytes,
      kExactBytes,  ///< for people both: "79.2 GiB (85,017,755,648)"
      kCount,
      kMillionths,
      kNanoseconds
    } unit = Unit::kNone;
  };
  std::vector<Column> columns;
  std::vector<std::vector<ResultsValue>> rows;
  std::uint64_t left_out = 0;  ///< rows beyond the limit
};

}  // namespace tidemark
