#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tidemark::graph {

/// A network of pipes whose cheapest cut between a source and a sink is asked for.
class FlowNetwork {
 public:
  /// More than every cut.
  static constexpr std::int64_t kUnlimited = std::int64_t{1} << 60U;

  explicit FlowNetwork(std::uint32_t vertices) : vertices_(vertices) {}
  /// Requires: capacity in [0, kUnlimited]; two vertices of the network.
  void add_edge(std::uint32_t from, std::uint32_t to, std::int64_t capacity) {
    edges_.push_back({from, to, capacity});
  }
  /// Of the cheapest cuts the one nearest to the sink: which vertices lie behind it. nullopt: every
  /// cut is unlimited. Cost: that of Boost's boykov_kolmogorov_max_flow.
  [[nodiscard]] std::optional<std::vector<bool>> behind_cut(std::uint32_t source,
                                                            std::uint32_t sink) const;

 private:
  struct Edge {
    std::uint32_t from;
    std::uint32_t to;
    std::int64_t capacity;
  };
  std::uint32_t vertices_;
  std::vector<Edge> edges_;
};

}  // namespace tidemark::graph
