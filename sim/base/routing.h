#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// How routers spread tokens over experts, where the user states a distribution: what they choose
/// is not known otherwise.
namespace tidemark {

struct Routing {
  /// As parse_routing() reads it: "uniform", "zipf:1.2", "shares:3,1,1".
  std::string text;
  /// Of "zipf:S": the i-th most popular expert gets 1/i^S. "uniform" is 0.
  double exponent = 0;
  /// Of "shares:": the share of each expert, not negative, not all 0. Empty: by `exponent`.
  std::vector<double> shares;
  /// The last expert is the most popular one, and gets more than its share by chance; else the
  /// first. Shares stay where they are.
  bool is_rising = false;
};

/// "uniform", "zipf:S" with S from 0 to 10, or "shares:A,B,...", a number for each expert. Errors:
/// InputError.
Routing parse_routing(const std::string& text);
/// Whether a text is the name of a distribution, and no file's.
bool names_distribution(const std::string& text);
/// A file's text as "shares:": a number for each expert, apart by spaces, commas or lines; '#'
/// starts a comment. Errors: InputError with the file's name and the line.
std::string shares_text(const std::string& name, const std::string& text);

/// How many of `tokens`, which choose `chosen` different experts each, choose each of `experts`.
/// They sum to tokens * chosen, and none exceeds `tokens`. Beside its share an expert gets what
/// chance gives it: the largest of as many draws goes to the first expert (the last, if it rises),
/// the least to the other end. Requires: 0 < chosen <= experts; shares, if any, for each expert.
std::vector<std::int64_t> tokens_of_experts(const Routing& routing, std::int64_t tokens,
                                            std::int64_t chosen, std::int64_t experts);
/// The same as the choices of each token, `chosen` to a token.
std::vector<std::int64_t> choices_of_tokens(const Routing& routing, std::int64_t tokens,
                                            std::int64_t chosen, std::int64_t experts);

}  // namespace tidemark
