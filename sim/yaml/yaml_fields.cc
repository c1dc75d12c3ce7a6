#include "sim/yaml/yaml_fields.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "sim/base/check.h"

namespace tidemark::yaml {

Fields::Fields(const Node& node, std::string path, std::vector<Problem>& problems)
    : node_(node), path_(std::move(path)), problems_(problems) {
  if (node.kind == Node::Kind::kMap || node.kind == Node::Kind::kNull) return;
  problems_.push_back(
      {node.at, path_, fmt::format("expected a map, found {}", describe(node)), {}});
}

Fields::Fields(const Node& node, std::string path, std::vector<Problem>& problems, const Map& map)
    : Fields(node, std::move(path), problems) {
  map_ = &map;
}

const Form& Fields::form(std::string_view key) const {
  const Field* field = map_ == nullptr ? nullptr : map_->find(key);
  TIDEMARK_CHECK(field != nullptr, fmt::format("no key '{}' in the table of {}", key, path_));
  return field->form;
}

std::string Fields::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

void Fields::report(const Node& at, std::string_view key, std::string message, std::string hint) {
  problems_.push_back({at.at, path_of(key), std::move(message), std::move(hint)});
}

void Fields::wrong(const Node& at, std::string_view key, std::string_view wanted) {
  report(at, key, fmt::format("expected {}, found {}", wanted, describe(at)));
}

const Node* Fields::get(std::string_view key) {
  TIDEMARK_CHECK(map_ == nullptr || map_->find(key) != nullptr,
                 fmt::format("no key '{}' in the table of {}", key, path_));
  asked_.push_back(key);
  const Node* value = node_.find(key);
  return value == nullptr || value->kind == Node::Kind::kNull ? nullptr : value;
}

std::optional<std::string> Fields::text(std::string_view key) {
  const Node* value = get(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_text()) return value->text;
  wrong(*value, key, "text");
  return std::nullopt;
}

std::optional<std::int64_t> Fields::integer(std::string_view key, std::int64_t least,
                                            std::int64_t most) {
  const Node* value = get(key);
  if (value == nullptr) return std::nullopt;
  const std::optional<std::int64_t> read = yaml::integer(*value);
  if (!read) {
    wrong(*value, key, "an integer");
  } else if (*read < least || *read > most) {
    report(*value, key,
           most == std::numeric_limits<std::int64_t>::max()
               ? fmt::format("must be {} or more, found {}", least, *read)
               : fmt::format("must lie between {} and {}, found {}", least, most, *read));
  } else {
    return read;
  }
  return std::nullopt;
}

std::optional<std::int64_t> Fields::integer(std::string_view key) {
  const Form& limits = form(key);
  return integer(key, limits.least, limits.most);
}

std::optional<double> Fields::number(std::string_view key, double least, double most) {
  const Node* value = get(key);
  if (value == nullptr) return std::nullopt;
  const std::optional<double> read = yaml::number(*value);
  if (!read) {
    wrong(*value, key, "a number");
  } else if (*read < least || *read > most) {
    report(*value, key,
           fmt::format("must lie between {} and {}, found {}", least, most, value->text));
  } else {
    return read;
  }
  return std::nullopt;
}

std::optional<double> Fields::number(std::string_view key) {
  const Form& limits = form(key);
  return number(key, static_cast<double>(limits.least),
                limits.most == Form::kNoLimit ? std::numeric_limits<double>::max()
                                              : static_cast<double>(limits.most));
}

std::optional<bool> Fields::boolean(std::string_view key) {
  const Node* value = get(key);
  if (value == nullptr) return std::nullopt;
  const std::optional<bool> read = yaml::boolean(*value);
  if (!read) wrong(*value, key, "true or false");
  return read;
}

std::optional<Bytes> Fields::bytes(std::string_view key) {
  const Node* value = get(key);
  if (value == nullptr) return std::nullopt;
  const std::optional<Bytes> read = value->is_text() ? parse_bytes(value->text) : std::nullopt;
  if (!read) wrong(*value, key, "an amount of memory (\"24GiB\", \"512MiB\", or whole bytes)");
  return read;
}

std::optional<std::size_t> Fields::choice(std::string_view key,
                                          std::span<const std::string_view> choices) {
  const Node* value = get(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_text()) {
    const auto found = std::find(choices.begin(), choices.end(), value->text);
    if (found != choices.end()) return static_cast<std::size_t>(found - choices.begin());
  }
  report(*value, key,
         fmt::format("expected one of {}, found {}", fmt::join(choices, ", "), describe(*value)),
         value->is_text() ? did_you_mean(value->text, {choices.begin(), choices.end()})
                          : std::string());
  return std::nullopt;
}

std::optional<std::size_t> Fields::choice(std::string_view key) {
  return choice(key, form(key).choices);
}

bool Fields::is_misspelt(std::string_view key) const {
  TIDEMARK_CHECK(map_ != nullptr, "a map without a table");
  return std::any_of(node_.entries.begin(), node_.entries.end(), [&](const Entry& entry) {
    return map_->find(entry.key) == nullptr && !did_you_mean(entry.key, {key}).empty();
  });
}

void Fields::require(std::string_view key) {
  if (node_.kind != Node::Kind::kMap && node_.kind != Node::Kind::kNull) return;
  if (get(key) != nullptr) return;
  if (map_ != nullptr && is_misspelt(key)) return;
  const Node* value = node_.find(key);
  problems_.push_back(
      {value != nullptr ? value->at : node_.at, path_, fmt::format("'{}' is missing", key), {}});
}

void Fields::require_all() {
  TIDEMARK_CHECK(map_ != nullptr, "a map without a table");
  for (const Field& field : map_->fields) {
    if (field.required) require(field.key);
  }
}

void Fields::done() {
  std::sort(asked_.begin(), asked_.end());
  for (const Entry& entry : node_.entries) {
    if (std::binary_search(asked_.begin(), asked_.end(), entry.key)) continue;
    problems_.push_back({entry.key_at, path_, fmt::format("unknown key '{}'", entry.key),
                         did_you_mean(entry.key, asked_)});
  }
}

}  // namespace tidemark::yaml
