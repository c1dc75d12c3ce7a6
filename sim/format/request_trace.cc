#include "sim/format/request_trace.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "sim/base/problem.h"
#include "sim/format/events_csv.h"
#include "sim/format/foreign_file.h"

namespace tidemark {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{256} << 10U;
constexpr std::size_t kLineBytes = std::size_t{64} << 10U;  ///< no line is longer
constexpr std::string_view kHeader = "tidemark-trace 1";
/// Live ids below this are kept in a bitmap, the others in a hash table.
constexpr std::uint64_t kDenseIds = std::uint64_t{1} << 26U;

class LiveIds {
 public:
  /// Returns false when it is live already.
  bool add(RequestId id) {
    if (id >= kDenseIds) return far_.insert(id).second;
    if (id >= dense_.size())
      dense_.resize(std::max<std::size_t>(std::size_t{id} + 1, 2 * dense_.size()));
    return !std::exchange(dense_[id], std::uint8_t{1});
  }
  void remove(RequestId id) {
    if (id < dense_.size()) {
      dense_[id] = 0;
    } else if (id >= kDenseIds) {
      far_.erase(id);
    }
  }

 private:
  std::vector<std::uint8_t> dense_;
  std::unordered_set<RequestId> far_;
};

class TraceReader {
 public:
  TraceReader(ByteSource& source, std::string_view name) : source_(source), name_(name) {}

  RequestTrace read() {
    std::vector<char> buffer(kBufferBytes);
    std::size_t held = 0;
    bool at_end = false;
    while (!at_end && goes_on()) {
      const std::size_t count = source_.read(std::span(buffer).subspan(held));
      at_end = count < buffer.size() - held;
      held += count;
      held = take_lines({buffer.data(), held}, at_end);
      if (held > 0) std::memmove(buffer.data(), rest_, held);
      if (held > kLineBytes) {
        line_ = {buffer.data(), 40};
        ++line_number_;
        if (started_) {
          problem(0, 0, "the line is longer than 64 KiB: this is no request trace");
        } else {
          other_file();
        }
        break;
      }
    }
    if (problems_.empty() && !started_) {
      line_ = {};
      problem(0, 0, fmt::format("the file has no first line '{}'", kHeader));
    }
    if (!problems_.empty()) throw InputError(std::move(problems_));
    return std::move(trace_);
  }

 private:
  [[nodiscard]] bool goes_on() const {
    return !is_other_file_ && problems_.size() < InputError::kMaxProblems;
  }
  /// Returns how many bytes of an unfinished line are left, from rest_ on.
  std::size_t take_lines(std::string_view text, bool at_end) {
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at < end && goes_on()) {
      const auto* line_end =
          static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
      if (line_end == nullptr) {
        if (!at_end) break;
        line_end = end;
      }
      ++line_number_;
      line_ = {at, static_cast<std::size_t>(line_end - at)};
      take_line();
      at = line_end == end ? end : line_end + 1;
    }
    rest_ = at;
    return static_cast<std::size_t>(end - at);
  }

  void take_line() {
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    at_ = 0;
    const std::string_view verb = word();
    if (verb.empty()) return;
    if (!started_) {
      if (verb != "tidemark-trace" || word() != "1" || !word().empty()) {
        other_file();
      }
      started_ = true;
      return;
    }
    Instruction instruction;
    if (verb == "alloc") {
      read_alloc(instruction);
    } else if (verb == "free") {
      instruction.verb = Verb::kFree;
      if (read_id(instruction)) {
        live_.remove(instruction.id);
        finish(instruction);
      }
    } else if (verb == "use") {
      instruction.verb = Verb::kUse;
      if (!read_id(instruction)) return;
      if (read_options(instruction, true, false) && !stream_given_) {
        problem(line_.size(), 0, "expected stream=S after the ID");
      }
      push(instruction);
    } else if (verb == "sync") {
      instruction.verb = Verb::kSyncDevice;
      read_options(instruction, true, false);
      if (stream_given_) instruction.verb = Verb::kSync;
      push(instruction);
    } else if (verb == "empty_cache") {
      instruction.verb = Verb::kEmptyCache;
      finish(instruction);
    } else if (verb == "reset_peak") {
      instruction.verb = Verb::kResetPeak;
      finish(instruction);
    } else if (verb == "mark") {
      instruction.verb = Verb::kMark;
      instruction.label = trace_.labels.intern(rest_of_line());
      push(instruction);
    } else {
      problem(at_ - verb.size(), verb.size(), fmt::format("unknown request '{}'", verb),
              did_you_mean(verb,
                           {"alloc", "free", "use", "sync", "empty_cache", "reset_peak", "mark"}));
    }
  }

  void read_alloc(Instruction& instruction) {
    instruction.verb = Verb::kAlloc;
    if (!read_id(instruction)) return;
    const std::size_t id_end = at_;
    const std::string_view text = word();
    const auto bytes = number(text, std::numeric_limits<Bytes>::max(), "BYTES");
    if (!bytes) return;
    instruction.bytes = *bytes;
    if (!read_options(instruction, true, true)) return;
    if (!live_.add(instruction.id)) {
      const std::size_t digits = fmt::formatted_size("{}", instruction.id);
      problem(id_end - digits, digits, fmt::format("request {} is live already", instruction.id),
              "an ID may be used again only after its free");
      return;
    }
    push(instruction);
  }

  /// The next word, or an empty one at the end of the line or at a comment.
  std::string_view word() {
    while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == '\t')) ++at_;
    const std::size_t begin = at_;
    while (at_ < line_.size() && line_[at_] != ' ' && line_[at_] != '\t' && line_[at_] != '#')
      ++at_;
    return line_.substr(begin, at_ - begin);
  }

  std::string_view rest_of_line() {
    while (at_ < line_.size() && line_[at_] == ' ') ++at_;
    std::string_view rest = line_.substr(at_, line_.find('#', at_) - at_);
    while (rest.ends_with(' ') || rest.ends_with('\r')) rest.remove_suffix(1);
    return rest;
  }

  /// `text` is what word() has just returned.
  std::optional<std::uint64_t> number(std::string_view text, std::uint64_t largest,
                                      std::string_view what) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value <= largest) return value;
    const std::size_t begin = at_ - text.size();
    if (text.empty()) {
      problem(begin, 0, fmt::format("expected {}", what));
    } else if (error == std::errc::result_out_of_range ||
               (error == std::errc() && value > largest)) {
      problem(begin, text.size(), fmt::format("{} is more than {}", what, largest));
    } else {
      problem(begin, text.size(),
              fmt::format("expected {}, an unsigned number, found '{}'", what, text));
    }
    return std::nullopt;
  }

  bool read_id(Instruction& instruction) {
    const auto id = number(word(), kNoRequest - 1, "ID");
    if (id) instruction.id = static_cast<RequestId>(*id);
    return id.has_value();
  }

  bool read_options(Instruction& instruction, bool stream, bool pool) {
    stream_given_ = false;
    for (std::string_view option = word(); !option.empty(); option = word()) {
      const std::size_t begin = at_ - option.size();
      const std::string_view key = option.substr(0, option.find('='));
      const bool is_stream = stream && key == "stream";
      const bool is_pool = pool && key == "pool";
      if ((!is_stream && !is_pool) || key.size() == option.size()) {
        problem(begin, option.size(), fmt::format("unexpected '{}'", option));
        return false;
      }
      const auto value =
          number(option.substr(key.size() + 1), 0xffff, is_stream ? "a stream" : "a pool");
      if (!value) return false;
      if (is_stream) {
        instruction.stream = static_cast<StreamId>(*value);
        stream_given_ = true;
      } else if (*value == 0) {
        problem(begin, option.size(), "pools count from 1");
        return false;
      } else {
        instruction.pool = static_cast<PoolId>(*value);
      }
    }
    return true;
  }

  void finish(const Instruction& instruction) {
    const std::string_view extra = word();
    if (extra.empty()) {
      push(instruction);
    } else {
      problem(at_ - extra.size(), extra.size(), fmt::format("unexpected '{}'", extra));
    }
  }

  void push(const Instruction& instruction) { trace_.instructions.push_back(instruction); }

  /// The first line is none of a trace.
  void other_file() {
    const std::string what = foreign_file(line_.substr(0, 400));
    if (!is_printable(line_.substr(0, 400))) line_ = {};  // nothing to be shown
    problem(0, std::min<std::size_t>(line_.size(), 400),
            fmt::format("this is no recording but {}", what),
            fmt::format("expected a snapshot that torch.cuda.memory._dump_snapshot wrote, or a "
                        "request trace with the first line '{}'",
                        kHeader));
    is_other_file_ = true;
  }

  void problem(std::size_t begin, std::size_t length, std::string message, std::string hint = {}) {
    SourceText line;
    line.name = std::string(name_);
    line.text = std::string(line_.substr(0, 400));
    line.first_line = line_number_;
    SourceSpan span;
    span.source = std::make_shared<const SourceText>(std::move(line));
    span.line = span.end_line = 1;
    span.column = static_cast<std::uint32_t>(begin + 1);
    span.end_column = static_cast<std::uint32_t>(begin + length + 1);
    problems_.push_back({std::move(span), {}, std::move(message), std::move(hint)});
  }

  ByteSource& source_;
  std::string_view name_;
  RequestTrace trace_;
  LiveIds live_;
  bool is_other_file_ = false;  ///< its first line says so: the others' problems would tell nothing
  std::vector<Problem> problems_;
  std::string_view line_;
  const char* rest_ = nullptr;
  std::size_t at_ = 0;
  std::uint32_t line_number_ = 0;
  bool started_ = false;
  bool stream_given_ = false;
};

}  // namespace

RequestTrace read_request_trace(ByteSource& source, std::string_view name) {
  return TraceReader(source, name).read();
}

RequestTrace read_request_trace_file(const std::string& path) {
  const auto source = unzipped(bytes_of_file(path == "-" ? "/dev/stdin" : path), path);
  return read_request_trace(*source, path);
}

void write_request_trace(std::span<const Instruction> instructions, const Labels& labels,
                         std::string& out) {
  write_trace_head(out);
  write_trace_lines(instructions, labels, out);
}

void write_trace_head(std::string& out) {
  out += kHeader;
  out += '\n';
}

void write_trace_lines(std::span<const Instruction> instructions, const Labels& labels,
                       std::string& out) {
  const auto line = [&out](std::string_view verb, std::uint64_t id) {
    out += verb;
    append_number(id, out);
  };
  for (const Instruction& instruction : instructions) {
    switch (instruction.verb) {
      case Verb::kAlloc:
        line("alloc ", instruction.id);
        out += ' ';
        append_number(instruction.bytes, out);
        if (instruction.stream != 0) line(" stream=", instruction.stream);
        if (instruction.pool != 0) line(" pool=", instruction.pool);
        break;
      case Verb::kFree:
        line("free ", instruction.id);
        break;
      case Verb::kUse:
        line("use ", instruction.id);
        line(" stream=", instruction.stream);
        break;
      case Verb::kSync:
        line("sync stream=", instruction.stream);
        break;
      case Verb::kSyncDevice:
        out += "sync";
        break;
      case Verb::kEmptyCache:
        out += "empty_cache";
        break;
      case Verb::kResetPeak:
        out += "reset_peak";
        break;
      case Verb::kMark:
        out += "mark ";
        out += labels.text(instruction.label);
        break;
      default:  // the format has no line for it
        continue;
    }
    out += '\n';
  }
}

}  // namespace tidemark
