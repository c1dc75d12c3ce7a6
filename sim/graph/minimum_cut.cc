#include "sim/graph/minimum_cut.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boykov_kolmogorov_max_flow.hpp>

namespace tidemark::graph {

namespace {

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using Network = boost::adjacency_list<
    boost::vecS, boost::vecS, boost::directedS,
    boost::property<boost::vertex_index_t, std::uint32_t,
                    boost::property<boost::vertex_color_t, boost::default_color_type,
                                    boost::property<boost::vertex_distance_t, std::int64_t,
                                                    boost::property<boost::vertex_predecessor_t,
                                                                    Traits::edge_descriptor>>>>,
    boost::property<
        boost::edge_capacity_t, std::int64_t,
        boost::property<boost::edge_residual_capacity_t, std::int64_t,
                        boost::property<boost::edge_reverse_t, Traits::edge_descriptor>>>>;

}  // namespace

std::optional<std::vector<bool>> FlowNetwork::behind_cut(std::uint32_t source,
                                                         std::uint32_t sink) const {
  Network network(vertices_);
  const auto capacity = get(boost::edge_capacity, network);
  const auto residual = get(boost::edge_residual_capacity, network);
  const auto reverse = get(boost::edge_reverse, network);
  std::vector<std::vector<Traits::edge_descriptor>> into(vertices_);
  for (const Edge& edge : edges_) {
    const auto there = boost::add_edge(edge.from, edge.to, network).first;
    const auto back = boost::add_edge(edge.to, edge.from, network).first;
    capacity[there] = edge.capacity;
    capacity[back] = 0;
    reverse[there] = back;
    reverse[back] = there;
    into[edge.to].push_back(there);
    into[edge.from].push_back(back);
  }
  const std::int64_t flow = boykov_kolmogorov_max_flow(network, source, sink);
  if (flow >= kUnlimited) return std::nullopt;
  std::vector<bool> behind(vertices_);
  std::vector<std::uint32_t> stack{sink};
  behind[sink] = true;
  while (!stack.empty()) {
    const std::uint32_t vertex = stack.back();
    stack.pop_back();
    for (const auto& edge : into[vertex]) {
      const auto from = static_cast<std::uint32_t>(boost::source(edge, network));
      if (residual[edge] == 0 || behind[from]) continue;
      behind[from] = true;
      stack.push_back(from);
    }
  }
  return behind;
}

}  // namespace tidemark::graph
