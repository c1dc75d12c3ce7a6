#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "sim/yaml/yaml.h"

namespace tidemark::yaml {

/// Where something begins, counted from 0.
struct PlainMark {
  std::size_t position = 0;
  std::size_t line = 0;
  std::size_t column = 0;
};

/// Takes what a document is made of, in order: a map's keys are scalars before their values.
class PlainSink {
 public:
  PlainSink() = default;
  PlainSink(const PlainSink&) = delete;
  PlainSink& operator=(const PlainSink&) = delete;
  virtual ~PlainSink() = default;
  virtual void scalar(const PlainMark& at, std::string_view text, bool is_quoted) = 0;
  /// `is_flow`: in brackets or braces.
  virtual void open(const PlainMark& at, bool is_map, bool is_flow) = 0;
  virtual void close() = 0;
};

/// Reads the plain kind of YAML that most scenarios are: maps by indentation with a value or a map
/// behind each key; values of one line, which are words, texts in double quotes, and lists and maps
/// of such in brackets and braces; one such value alone; comments. Returns false where anything
/// else is met, be it more of YAML or a mistake: what `sink` was given until then means nothing. It
/// is for speed alone: the whole of YAML is read by a library that asks a regular expression at
/// every character.
bool read_plain(std::string_view text, PlainSink& sink);

/// As parse(), by the library alone. (yaml.cc)
Node parse_whole(const std::shared_ptr<const SourceText>& source);

}  // namespace tidemark::yaml
