#include "sim/base/routing.h"

#include <algorithm>
#include <numeric>

#include "sim/base/problem.h"

using namespace tidemark;

using Counts = std::vector<std::int64_t>;

TEST_CASE("a routing is read from its name") {
  CHECK(parse_routing("uniform").exponent == 0);
  CHECK(parse_routing("zipf:1.25").exponent == 1.25);
  CHECK(parse_routing("shares:3,1,0.5").shares == std::vector<double>{3, 1, 0.5});
  for (const char* bad : {"zipf:", "zipf:x", "zipf:-1", "zipf:11", "zipf:1 ", "even", "",
                          "shares:", "shares:1,", "shares:0,0", "shares:1,-1", "shares:inf"}) {
    CHECK_THROWS_WITH(parse_routing(bad),
                      "error: routing: '" + std::string(bad) +
                          "' is no distribution; write uniform, zipf:S with S from 0 to 10, or a "
                          "file of shares\n");
  }
}

TEST_CASE("shares of experts are read from a file's text") {
  CHECK(shares_text("f", "# first the busy one\n3, 1\n0.5\t0 # idle") == "shares:3,1,0.5,0");
  CHECK_THROWS_WITH(shares_text("f", "1\n2 x"),
                    "error: f:2: 'x' is no share of an expert; write a number that is not negative "
                    "for each expert\n");
  CHECK_THROWS_AS(shares_text("f", "1,-2"), InputError);
  CHECK_THROWS_WITH(shares_text("f", "0 # 1\n"),
                    "error: f: no expert has a share; write a number for each expert, one of them "
                    "above 0\n");
}

TEST_CASE("uniform counts lie around their share as draws do") {
  // Of 4 experts each token of 4096 chooses 1: 1024 +- 27.7 (the root of 4096 * 1/4 * 3/4). The
  // expected extremes of 4 normal draws are +-1.03, the others +-0.30.
  CHECK(tokens_of_experts({}, 4096, 1, 4) == Counts{1053, 1032, 1016, 995});
  Routing rising;
  rising.is_rising = true;
  CHECK(tokens_of_experts(rising, 4096, 1, 4) == Counts{995, 1016, 1032, 1053});
}

TEST_CASE("zipf favours the first experts or the last") {
  // 1, 1/2 and 1/3 of 11/6 of 12000: 6545, 3273, 2182, each within 50 by chance.
  Routing zipf = parse_routing("zipf:1");
  CHECK(tokens_of_experts(zipf, 12000, 1, 3) == Counts{6587, 3270, 2143});
  zipf.is_rising = true;
  CHECK(tokens_of_experts(zipf, 12000, 1, 3) == Counts{2143, 3270, 6587});
}

TEST_CASE("no expert is chosen twice by a token") {
  // By its share alone the first would be chosen 2 * 100 * 0.97 times.
  const Routing shares = parse_routing("shares:97,1,1,1");
  const Counts counts = tokens_of_experts(shares, 100, 2, 4);
  CHECK(counts[0] == 100);
  CHECK(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) == 200);
  const Counts choices = choices_of_tokens(shares, 100, 2, 4);
  for (std::size_t token = 0; token < 100; ++token)
    CHECK(choices[2 * token] != choices[2 * token + 1]);
  for (std::int64_t expert = 0; expert < 4; ++expert)
    CHECK(std::ranges::count(choices, expert) == counts[static_cast<std::size_t>(expert)]);
}

TEST_CASE("counts sum to what is chosen, however few tokens there are") {
  for (const std::int64_t tokens : {0, 1, 2, 7, 65536}) {
    for (const std::int64_t chosen : {1, 3, 8}) {
      for (const double exponent : {0.0, 1.0, 10.0}) {
        Routing routing;
        routing.exponent = exponent;
        const Counts counts = tokens_of_experts(routing, tokens, chosen, 8);
        CHECK(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) == tokens * chosen);
        CHECK(*std::ranges::min_element(counts) >= 0);
        CHECK(*std::ranges::max_element(counts) <= tokens);
      }
    }
  }
}
