#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/alloc/settings.h"
#include "sim/alloc/settings_parser.h"
#include "sim/base/bytes.h"
#include "sim/base/problem.h"
#include "sim/base/source.h"

namespace tidemark {

/// PyTorch cuts the text at , : [ ] and drops white space, also inside words.
struct SettingsToken {
  std::string text;
  std::size_t begin = 0;  ///< offsets in the text
  std::size_t end = 0;
};
std::vector<SettingsToken> settings_tokens(std::string_view conf, Version version);

/// From this release on separators are skipped unread, numbers are 64 bits wide and refusals are
/// ValueErrors.
inline constexpr Version kLenientSyntax{2, 9};

/// Walks the tokens for the readers of single settings (knobs.cc). Everything that refuses throws
/// Refusal, after which the parser goes on behind the next comma.
class SettingsReader {
 public:
  struct Refusal {
    Problem problem;
  };

  SettingsReader(std::shared_ptr<const SourceText> conf, Version version);

  [[nodiscard]] Version version() const { return version_; }
  [[nodiscard]] bool lenient() const { return version_ >= kLenientSyntax; }
  [[nodiscard]] bool at_end() const { return next_ >= tokens_.size(); }
  /// The token that comes next. Requires: !at_end().
  [[nodiscard]] const std::string& peek() const { return tokens_[next_].text; }
  [[nodiscard]] std::size_t position() const { return next_; }
  void seek(std::size_t position) { next_ = position; }

  /// Starts an entry: takes the key.
  const std::string& begin_entry();
  /// Takes one separator; old releases insist on `wanted`.
  void separator(char wanted);
  /// Takes the next token as a value. Refuses: there is none.
  const std::string& word();
  /// Values as the C++ library converts them: leading digits count, what trails is ignored, a
  /// negative number wraps.
  std::uint64_t whole_number();
  double fraction();
  bool truth();
  /// True when the next token is `text`, which is then taken.
  bool take_if(std::string_view text);
  /// Takes a bracketed list or a single word, unread.
  void skip_value();
  /// Skips the rest of a refused entry, to behind the next comma outside brackets.
  void skip_entry();

  /// Refuses the token taken last.
  [[noreturn]] void refuse(std::string message, std::string hint = {}) const;
  void warn(std::string message);
  [[nodiscard]] std::vector<Problem>& warnings() { return warnings_; }
  /// In MiB, as bytes; PyTorch caps what would not fit.
  static Bytes mebibytes(std::uint64_t number);
  /// The one setting that is no value of the allocator: which allocator it is.
  void choose(Backend backend) { backend_ = backend; }
  [[nodiscard]] Backend backend() const { return backend_; }

 private:
  [[nodiscard]] Problem problem_at(std::size_t token, std::string message, std::string hint) const;
  [[noreturn]] void refuse_missing() const;
  [[noreturn]] void refuse_number(const char* kind, const char* converter) const;

  std::shared_ptr<const SourceText> conf_;
  Version version_;
  std::vector<SettingsToken> tokens_;
  std::size_t next_ = 0;
  std::size_t entry_ = 0;  ///< the token with the current entry's key
  std::vector<Problem> warnings_;
  Backend backend_ = Backend::kNative;
};

/// One setting: all that Tidemark's reading of it needs. The table in knobs.cc is the only list.
struct Knob {
  SettingInfo info;
  void (*read)(SettingsReader& reader, KnobValues& values);
  bool native_only = true;  ///< without effect with backend:cudaMallocAsync
};
std::span<const Knob> knobs();

}  // namespace tidemark
