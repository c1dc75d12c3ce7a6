#include "sim/graph/minimum_cut.h"

#include <catch2/catch.hpp>

using tidemark::graph::FlowNetwork;

TEST_CASE("The cheapest cut lies where the pipes are narrowest") {
  // 0 -> 1 -> 2 -> 3, and a way round 1.
  FlowNetwork network(4);
  network.add_edge(0, 1, 7);
  network.add_edge(0, 2, 1);
  network.add_edge(1, 2, 3);
  network.add_edge(2, 3, 9);
  CHECK(network.behind_cut(0, 3) == std::vector<bool>{false, false, true, true});
}

TEST_CASE("Of cuts that cost the same the one nearest to the sink is taken") {
  FlowNetwork network(4);
  network.add_edge(0, 1, 5);
  network.add_edge(1, 2, 5);
  network.add_edge(2, 3, 5);
  CHECK(network.behind_cut(0, 3) == std::vector<bool>{false, false, false, true});
}

TEST_CASE("A pipe without capacity is a cut that costs nothing") {
  FlowNetwork network(3);
  network.add_edge(0, 1, FlowNetwork::kUnlimited);
  network.add_edge(1, 2, 0);
  CHECK(network.behind_cut(0, 2) == std::vector<bool>{false, false, true});
}

TEST_CASE("Where every way is unlimited there is no cut") {
  FlowNetwork network(3);
  network.add_edge(0, 1, FlowNetwork::kUnlimited);
  network.add_edge(1, 2, FlowNetwork::kUnlimited);
  CHECK(network.behind_cut(0, 2) == std::nullopt);
}
