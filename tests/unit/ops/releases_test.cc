#include "sim/ops/releases.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "sim/ops/registry.h"

using namespace tidemark;

namespace {

constexpr std::string_view kBegin = "<!-- rules: begin (generated from sim/ops/releases.cc) -->\n";
constexpr std::string_view kEnd = "<!-- rules: end -->";
constexpr std::string_view kUpgradesBegin =
    "<!-- upgrades: begin (generated from sim/ops/releases.cc) -->\n";
constexpr std::string_view kUpgradesEnd = "<!-- upgrades: end -->";

/// The rules as a table of the page, and the operators that have an entry of their own for some
/// releases.
std::string rules_page() {
  std::string out = "| | releases | what it does | source |\n| --- | --- | --- | --- |\n";
  for (const ops::ReleaseRule& rule : ops::release_rules()) {
    std::string_view name = rule.what;
    for (const ops::ReleaseVariant& variant : rule.variants) {
      if (variant.does.empty()) continue;
      out += fmt::format("| {} | {}{} | {} | {} |\n", name, rule.by_toolkit ? "CUDA " : "",
                         to_string(variant.releases), variant.does, rule.source);
      name = "";
    }
  }
  std::string entries;
  for (const auto& family : ops::op_families()) {
    for (const ops::OpDef& def : family) {
      const bool is_of_all =
          def.releases.from == kOldestVersion && def.releases.to == kNewestVersion;
      if (is_of_all) continue;
      entries += fmt::format("| `{}` | {} |\n", def.signature, to_string(def.releases));
    }
  }
  if (!entries.empty()) {
    out +=
        "\nThe gradients of these have one form a range of releases:\n\n"
        "| operator | releases |\n| --- | --- |\n" +
        entries;
  }
  return out;
}

/// What a rule did before a version and does from it on; empty where that version changes nothing.
std::string change_of(const ops::ReleaseRule& rule, const Wheel& before, const Wheel& after) {
  const ops::ReleaseVariant& was = rule.variant_of(before);
  const ops::ReleaseVariant& is = rule.variant_of(after);
  if (&was == &is) return {};
  return fmt::format("| {} | {} | {} |\n", rule.what, was.does, is.does);
}

/// Release by release, what changes for who upgrades to it from the one before.
std::string upgrades_page() {
  std::string out;
  for (Version v = kNewestVersion; v > kOldestVersion; --v.minor) {
    const Wheel after = pypi_wheel(v);
    const Wheel before = pypi_wheel({v.major, static_cast<std::uint8_t>(v.minor - 1)});
    out += fmt::format("\n### {} to {}\n\n", to_string(before.pytorch), to_string(v));
    out += fmt::format("| | {} | {} |\n| --- | --- | --- |\n", to_string(before.pytorch),
                       to_string(v));
    const std::size_t head = out.size();
    if (after.cuda != before.cuda) {
      out += fmt::format("| PyPI's wheel | CUDA {} | CUDA {} |\n", to_string(before.cuda),
                         to_string(after.cuda));
    }
    for (const ops::ReleaseRule& rule : ops::release_rules()) out += change_of(rule, before, after);
    std::string operators;
    for (const auto& family : ops::op_families()) {
      for (const ops::OpDef& def : family) {
        if (def.releases.from != v) continue;
        operators += operators.empty() ? "" : ", ";
        operators += def.signature.substr(0, def.signature.find('('));
      }
    }
    if (!operators.empty())
      out += fmt::format("| gradients of {} | their own form | another |\n", operators);
    if (out.size() == head) out += "| nothing | | |\n";
  }
  return out;
}

std::string read(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<Version> known_releases() {
  std::vector<Version> out;
  for (Version v = kOldestVersion; v <= kNewestVersion; ++v.minor) out.push_back(v);
  return out;
}

}  // namespace

TEST_CASE("every rule says what each known release, or each toolkit, does, and says it once") {
  for (const ops::ReleaseRule& rule : ops::release_rules()) {
    for (const Version release : known_releases()) {
      const Version decides = rule.by_toolkit ? pypi_wheel(release).cuda : release;
      int found = 0;
      for (const ops::ReleaseVariant& variant : rule.variants) {
        found += !variant.does.empty() && variant.releases.contain(decides) ? 1 : 0;
      }
      CAPTURE(rule.name, to_string(decides));
      CHECK(found == 1);
    }
  }
}

TEST_CASE("rules have names of their own") {
  std::set<std::string_view> names;
  for (const ops::ReleaseRule& rule : ops::release_rules()) CHECK(names.insert(rule.name).second);
}

TEST_CASE("no release has two entries of one operator for the same arguments") {
  for (const Version release : known_releases()) {
    std::set<std::string> seen;
    for (const auto& family : ops::op_families()) {
      for (const ops::OpDef& def : family) {
        if (!def.releases.contain(release)) continue;
        CAPTURE(to_string(release), def.signature, def.where);
        CHECK(seen.insert(fmt::format("{} {}", def.where, def.signature)).second);
      }
    }
  }
}

TEST_CASE("a wheel's rules are those of its release and of its toolkit") {
  const ops::ReleaseRules old = ops::rules_of({{2, 6}, {12, 4}});
  CHECK(old.cublas_workspace == ops::CublasWorkspace::kKept);
  CHECK(old.cublaslt_workspace == ops::CublasLtWorkspace::kCallBesideKept);
  CHECK(old.rms_norm == ops::RmsNorm::kWeightLast);
  CHECK(old.cub_allocations == 1);
  const ops::ReleaseRules newest = ops::rules_of({{2, 15}, {13, 2}});
  CHECK(newest.cublas_workspace == ops::CublasWorkspace::kCall);
  CHECK(newest.cub_allocations == 2);
  CHECK(ops::rules_of({{2, 15}, {12, 8}}).cub_allocations == 1);
  CHECK(ops::variant_of_rule("open_slice_is_whole", {{2, 11}, {13, 0}}) == 1);
}

TEST_CASE("the page of releases lists every rule, and what each release changes") {
  // TIDEMARK_APPROVE=1 writes the page anew.
  const std::string path = std::string(TIDEMARK_SOURCE_DIR) + "/docs/releases.md";
  std::string page = read(path);
  const auto with = [](const std::string& text, std::string_view begin, std::string_view end,
                       const std::string& part) {
    const std::size_t from = text.find(begin);
    const std::size_t to = text.find(end);
    REQUIRE(from != std::string::npos);
    REQUIRE(to != std::string::npos);
    return text.substr(0, from + begin.size()) + part + text.substr(to);
  };
  const std::string expected =
      with(with(page, kBegin, kEnd, rules_page()), kUpgradesBegin, kUpgradesEnd, upgrades_page());
  if (std::getenv("TIDEMARK_APPROVE") != nullptr) {
    std::ofstream(path) << expected;
    page = expected;
  }
  CHECK(page == expected);
}

TEST_CASE("rules change where the recordings of neighbouring releases differ") {
  const auto of = [](unsigned minor) {
    return ops::rules_of(pypi_wheel({2, static_cast<std::uint8_t>(minor)}));
  };
  CHECK(of(4).attention_softmax == ops::AttentionSoftmax::kPlain);
  CHECK(of(5).attention_softmax == ops::AttentionSoftmax::kSafeCopied);
  CHECK(of(6).attention_softmax == ops::AttentionSoftmax::kSafeInPlace);
  CHECK(of(4).cub_policies == ops::CubPolicies::kSortsAlone);
  CHECK(of(5).cub_policies == ops::CubPolicies::kAll);
  CHECK(of(6).rms_norm == ops::RmsNorm::kWeightLast);
  CHECK(of(8).rms_norm == ops::RmsNorm::kCastLast);
  CHECK(of(9).addmm_bias == ops::AddmmBias::kVector);
  CHECK(of(10).addmm_bias == ops::AddmmBias::kRowToSeveral);
  CHECK(of(11).addmm_bias == ops::AddmmBias::kRow);
  CHECK_FALSE(of(11).rms_norm_autocasts);
  CHECK(of(12).rms_norm_autocasts);
  CHECK_FALSE(of(8).has_muon);
  CHECK(of(9).has_muon);
  CHECK(of(14).linear_gives_views);
  CHECK_FALSE(of(15).linear_gives_views);
}
