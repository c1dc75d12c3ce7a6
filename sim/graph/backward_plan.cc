#include "sim/graph/backward_plan.h"

#include <algorithm>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/filtered_graph.hpp>
#include <boost/pending/queue.hpp>
#include <unordered_set>

namespace tidemark::graph {

namespace {

struct IsGradient {
  bool operator()(const OpEdge* edge) const {
    const bool is_behind = ends != nullptr && ends->count(edge->source) > 0;
    return edge->kind == EdgeKind::kGradient && !is_behind;
  }
  const std::unordered_set<VertexId>* ends = nullptr;  ///< null: none
};

/// Colours of the vertices up to the newest root, dense from the newest down: what gradients reach
/// is near the end of the graph, while the graph holds the whole run.
struct Colors {
  using key_type = VertexId;
  using value_type = boost::default_color_type;
  using reference = value_type;
  using category = boost::read_write_property_map_tag;

  VertexId highest;
  std::vector<boost::default_color_type>* by_distance;
};
boost::default_color_type get(const Colors& colors, VertexId v) {
  const std::size_t at = colors.highest - v;
  return at < colors.by_distance->size() ? (*colors.by_distance)[at] : boost::white_color;
}
void put(const Colors& colors, VertexId v, boost::default_color_type color) {
  const std::size_t at = colors.highest - v;
  if (at >= colors.by_distance->size()) {
    colors.by_distance->resize(std::max(at + 1, colors.by_distance->size() * 2),
                               boost::white_color);
  }
  (*colors.by_distance)[at] = color;
}

/// Counts the gradient edges that lead to each vertex, by distance from the newest.
struct CountDependencies : boost::default_bfs_visitor {
  CountDependencies(VertexId h, std::vector<std::uint32_t>& c, VertexId& l)
      : highest(h), counts(c), lowest(l) {}
  template <class Graph>
  void discover_vertex(VertexId v, const Graph& /*graph*/) {
    lowest = std::min(lowest, v);
    reserve(v);
  }
  template <class Graph>
  void examine_edge(const OpEdge* edge, const Graph& /*graph*/) {
    reserve(edge->target);
    ++counts[highest - edge->target];
  }
  void reserve(VertexId v) {
    const std::size_t needed = highest - v + 1;
    if (counts.size() < needed) counts.resize(std::max(needed, counts.size() * 2), 0);
  }
  VertexId highest;
  std::vector<std::uint32_t>& counts;
  VertexId& lowest;
};

}  // namespace

BackwardPlan::BackwardPlan(const OpGraph& graph, const std::vector<VertexId>& roots,
                           const std::vector<VertexId>& ends) {
  if (roots.empty()) return;
  const VertexId highest = *std::max_element(roots.begin(), roots.end());
  std::vector<std::uint32_t> by_distance;  // dependencies, from the newest vertex down
  VertexId lowest = highest;
  const std::unordered_set<VertexId> ends_of(ends.begin(), ends.end());
  const boost::filtered_graph<OpGraph, IsGradient> gradients(graph,
                                                             {ends.empty() ? nullptr : &ends_of});
  std::vector<boost::default_color_type> colors;
  colors.reserve(256);
  const Colors color_map{highest, &colors};
  boost::queue<VertexId> queue;
  for (const VertexId root : roots) {
    if (get(color_map, root) != boost::white_color) continue;
    boost::breadth_first_visit(gradients, root, queue,
                               CountDependencies(highest, by_distance, lowest), color_map);
  }
  lowest_ = lowest;
  pending_.resize(highest - lowest + 1);
  reached_.resize(pending_.size());
  for (VertexId v = lowest; v <= highest; ++v) {
    pending_[v - lowest] = by_distance[highest - v];
    reached_[v - lowest] = get(color_map, v) != boost::white_color;
  }
}

}  // namespace tidemark::graph
