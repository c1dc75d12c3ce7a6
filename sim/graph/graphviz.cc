#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/graphviz.hpp>
#include <map>
#include <ostream>
#include <sstream>

#include "sim/graph/details.h"

namespace tidemark::graph {

std::string graphviz(const std::string& title, const std::vector<DotVertex>& vertices,
                     const std::vector<DotEdge>& edges) {
  using Graph =
      boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, DotVertex, DotEdge>;
  Graph drawing;
  for (const DotVertex& vertex : vertices) boost::add_vertex(vertex, drawing);
  for (const DotEdge& edge : edges) boost::add_edge(edge.from, edge.to, edge, drawing);
  const auto quoted = [](const std::string& text) { return boost::escape_dot_string(text); };
  std::ostringstream out;
  boost::write_graphviz(
      out, drawing,
      [&](std::ostream& to, Graph::vertex_descriptor v) {
        to << "[label=" << quoted(drawing[v].label) << ", fillcolor=" << quoted(drawing[v].fill)
           << "]";
      },
      [&](std::ostream& to, const Graph::edge_descriptor& e) {
        const DotEdge& edge = drawing[e];
        to << "[label=" << quoted(edge.label) << ", style=" << edge.style
           << ", color=" << quoted(edge.colour) << "]";
      },
      [&](std::ostream& to) {
        to << "label=" << quoted(title)
           << ";\nlabelloc=t;\nrankdir=TB;\nfontname=\"Helvetica\";\n"
              "node [shape=box, style=\"filled,rounded\", fontname=\"Helvetica\", fontsize=11];\n"
              "edge [fontname=\"Helvetica\", fontsize=9];\n";
      });
  return out.str();
}

}  // namespace tidemark::graph
