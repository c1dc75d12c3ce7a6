#include "sim/device/device_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string>

#include "sim/device/known_devices.h"

namespace tidemark {
namespace {

/// What stands before or behind a name and tells no device from another.
constexpr std::array<std::string_view, 9> kSaysNothing = {
    "nvidia", "geforce", "tesla", "amd", "instinct", "gpu", "graphics", "generation", "device"};

std::string lower(std::string_view text) {
  std::string out;
  for (const char c : text) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool is_number(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_series(std::string_view word) { return word == "rtx" || word == "gtx"; }

using Words = std::vector<std::string>;

/// Adds a word as it is compared: SXM4 and SXM5 are the same plug, "80 GB" and "80g" are "80gb",
/// "3080ti" is two words, "mobile" is what others call "laptop".
void add_word(std::string word, Words& out) {
  const auto ends_a_number = [&](std::string_view ending) {
    return word.ends_with(ending) &&
           is_number(std::string_view(word).substr(0, word.size() - ending.size()));
  };
  if (word == "mobile") word = "laptop";
  if (word == "gb" && !out.empty() && is_number(out.back())) {
    out.back() += word;
  } else if (word.size() == 4 && word.starts_with("sxm")) {
    out.emplace_back("sxm");
  } else if (ends_a_number("g")) {
    out.push_back(word + "b");
  } else if (ends_a_number("ti")) {
    out.push_back(word.substr(0, word.size() - 2));
    out.emplace_back("ti");
  } else if (!word.empty() &&
             std::find(kSaysNothing.begin(), kSaysNothing.end(), word) == kSaysNothing.end()) {
    out.push_back(std::move(word));
  }
}

/// The words that tell: "NVIDIA A100-SXM4-80GB" has a100, sxm and 80gb.
Words words_of(std::string_view name) {
  Words out;
  std::string word;
  for (const char c : lower(name)) {
    const bool is_part = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (is_part) word += c;
    // "rtx4090" is two words.
    if (!is_part || is_series(word)) {
      add_word(std::move(word), out);
      word.clear();
    }
  }
  add_word(std::move(word), out);
  return out;
}

/// The words with which nobody needs to begin: "3090" says as much as "RTX 3090".
Words without_series(Words words) {
  if (words.size() > 1 && is_series(words.front())) words.erase(words.begin());
  return words;
}

std::vector<std::string_view> devices_of(const Words& wanted) {
  std::vector<std::string_view> own_names;
  std::vector<std::string_view> parts;
  for (const KnownDevice& known : known_devices()) {
    std::vector<std::string> names(known.aliases.begin(), known.aliases.end());
    names.emplace_back(known.id);
    names.push_back(known.make().spec.name);
    bool is_own = false;
    std::set<std::string> words;
    for (const std::string& each : names) {
      const Words own = words_of(each);
      is_own = is_own || own == wanted || without_series(own) == wanted;
      words.insert(own.begin(), own.end());
    }
    if (is_own) own_names.push_back(known.id);
    if (std::all_of(wanted.begin(), wanted.end(),
                    [&](const std::string& word) { return words.contains(word); }))
      parts.push_back(known.id);
  }
  return own_names.empty() ? parts : own_names;
}

}  // namespace

std::vector<std::string_view> devices_called(std::string_view name) {
  Words wanted = words_of(name);
  if (wanted.empty()) return {};
  std::vector<std::string_view> out = devices_of(wanted);
  // Some still say Quadro to what has not been called so since 2020.
  if (out.empty() && wanted.front() == "quadro" && wanted.size() > 1) {
    wanted.erase(wanted.begin());
    out = devices_of(wanted);
  }
  return out;
}

}  // namespace tidemark
