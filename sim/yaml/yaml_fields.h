#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/bytes.h"
#include "sim/yaml/yaml.h"
#include "sim/yaml/yaml_form.h"

namespace tidemark::yaml {

/// Reads one map strictly: each key is asked for by name and type, done() reports the keys nobody
/// asked for. What is wrong goes to a list, with place and path, and the value counts as not given,
/// so that one pass finds everything.
class Fields {
 public:
  /// `path`: of the map itself ("train"), empty for the whole file. Requires: node and problems
  /// outlive it. A node that is no map is a problem, and has no keys; null is an empty map.
  Fields(const Node& node, std::string path, std::vector<Problem>& problems);
  /// With the table of its keys, which limits and choices are taken from. Only these may be asked
  /// for.
  Fields(const Node& node, std::string path, std::vector<Problem>& problems, const Map& map);

  /// The value, whatever it is; nullptr: not there or null.
  const Node* get(std::string_view key);
  bool has(std::string_view key) { return get(key) != nullptr; }
  /// Any scalar as it is written.
  std::optional<std::string> text(std::string_view key);
  std::optional<std::int64_t> integer(std::string_view key, std::int64_t least, std::int64_t most);
  std::optional<std::int64_t> integer(std::string_view key);
  std::optional<double> number(std::string_view key, double least, double most);
  std::optional<double> number(std::string_view key);
  std::optional<bool> boolean(std::string_view key);
  /// "24GiB", "512MiB", or whole bytes.
  std::optional<Bytes> bytes(std::string_view key);
  /// The index of the value in `choices`.
  std::optional<std::size_t> choice(std::string_view key,
                                    std::span<const std::string_view> choices);
  std::optional<std::size_t> choice(std::string_view key);
  /// Whether a key that the table does not know looks like this one: done() says so, and that this
  /// one is missing would be no news. Requires: a table.
  [[nodiscard]] bool is_misspelt(std::string_view key) const;
  /// Reports the key as missing when it is not there.
  void require(std::string_view key);
  /// The same for all that the table calls required.
  void require_all();
  /// Reports the keys that nobody asked for, each with the nearest known one.
  void done();

  /// "train.batch".
  [[nodiscard]] std::string path_of(std::string_view key) const;
  [[nodiscard]] const Node& node() const { return node_; }
  /// Of the table. Requires: the key is in it.
  [[nodiscard]] const Form& form(std::string_view key) const;
  void report(const Node& at, std::string_view key, std::string message, std::string hint = {});
  [[nodiscard]] std::vector<Problem>& problems() const { return problems_; }

 private:
  void wrong(const Node& at, std::string_view key, std::string_view wanted);

  const Node& node_;
  std::string path_;
  std::vector<Problem>& problems_;
  const Map* map_ = nullptr;
  std::vector<std::string_view> asked_;
};

}  // namespace tidemark::yaml
