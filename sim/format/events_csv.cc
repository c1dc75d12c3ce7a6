#include "sim/format/events_csv.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <memory>
#include <optional>

#include "sim/base/check.h"
#include "sim/base/problem.h"

namespace tidemark {

namespace {

enum class Column : std::uint8_t {
  kIndex,
  kAction,
  kAddress,
  kBytes,
  kStream,
  kId,
  kPhase,
  kOp,
  kDevice,
  kOther
};
constexpr std::array<std::string_view, 9> kColumnNames{
    "index", "action", "address", "bytes", "stream", "id", "phase", "op", "device"};
constexpr std::array kRequired{Column::kAction, Column::kAddress, Column::kBytes, Column::kStream,
                               Column::kId};

constexpr std::string_view name_of(Column column) {
  return kColumnNames[static_cast<std::size_t>(column)];
}

/// One field of a line, and where it stands. A quoted field that holds quotes is kept in
/// `unquoted`.
struct Field {
  std::string_view text;
  std::size_t column = 1;
};

class EventsReader {
 public:
  EventsReader(std::string_view text, std::string_view name) : rest_(text), name_(name) {}

  EventTable read() {
    if (!next_line()) {
      line_number_ = 1;
      at_line({"", 1},
              "the file is empty; expected the header line index,action,address,bytes,stream,id");
      throw InputError(std::move(problems_));
    }
    read_header();
    if (!problems_.empty()) throw InputError(std::move(problems_));
    table_.events.reserve(static_cast<std::size_t>(std::count(rest_.begin(), rest_.end(), '\n')) +
                          1);
    while (problems_.size() < InputError::kMaxProblems && next_line()) {
      if (!line_.empty()) read_event();
    }
    if (!problems_.empty()) throw InputError(std::move(problems_));
    return std::move(table_);
  }

 private:
  bool next_line() {
    if (rest_.empty()) return false;
    const std::size_t end = rest_.find('\n');
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    ++line_number_;
    return true;
  }

  void at_line(const Field& field, std::string message, std::string hint = {}) {
    SourceText line;
    line.name = std::string(name_);
    line.text = std::string(line_.substr(0, 400));
    line.first_line = line_number_;
    SourceSpan span;
    span.source = std::make_shared<const SourceText>(std::move(line));
    span.line = 1;
    span.end_line = 1;
    span.column = static_cast<std::uint32_t>(field.column);
    span.end_column = static_cast<std::uint32_t>(field.column + field.text.size());
    problems_.push_back({std::move(span), {}, std::move(message), std::move(hint)});
  }

  /// Takes line_ apart into fields_. False, with a problem, where a quote never ends.
  bool split() {
    fields_.clear();
    unquoted_.clear();
    std::size_t begin = 0;
    while (true) {
      if (begin < line_.size() && line_[begin] == '"') {
        std::string value;
        std::size_t i = begin + 1;
        while (i < line_.size() &&
               (line_[i] != '"' || (i + 1 < line_.size() && line_[i + 1] == '"'))) {
          value += line_[i];
          i += line_[i] == '"' ? 2U : 1U;
        }
        if (i >= line_.size()) {
          at_line({line_.substr(begin), begin + 1}, "this quote has no end on its line");
          return false;
        }
        unquoted_.push_back(std::make_unique<std::string>(std::move(value)));
        fields_.push_back({*unquoted_.back(), begin + 1});
        begin = i + 1;
        if (begin < line_.size() && line_[begin] != ',') {
          at_line({line_.substr(begin, 1), begin + 1}, "expected a comma after the closing quote");
          return false;
        }
        if (begin >= line_.size()) return true;
        ++begin;
        continue;
      }
      const std::size_t comma = line_.find(',', begin);
      fields_.push_back({line_.substr(begin, comma - begin), begin + 1});
      if (comma == std::string_view::npos) return true;
      begin = comma + 1;
    }
  }

  void read_header() {
    if (!split()) return;
    for (const Field& field : fields_) {
      const auto* found = std::find(kColumnNames.begin(), kColumnNames.end(), field.text);
      const auto column = static_cast<Column>(found - kColumnNames.begin());
      if (column != Column::kOther &&
          std::find(columns_.begin(), columns_.end(), column) != columns_.end()) {
        at_line(field, "column '" + std::string(field.text) + "' stands twice in the header");
      }
      columns_.push_back(column);
    }
    for (const Column column : kRequired) {
      if (std::find(columns_.begin(), columns_.end(), column) == columns_.end()) {
        at_line({line_, 1}, "no column '" + std::string(name_of(column)) + "' in the header",
                "an event trace starts with index,action,address,bytes,stream,id");
        return;
      }
    }
  }

  std::uint64_t number(const Field& field, Column column, std::uint64_t most) {
    std::uint64_t value = 0;
    const char* end = field.text.data() + field.text.size();
    const auto [stop, error] = std::from_chars(field.text.data(), end, value);
    if (error != std::errc() || stop != end || value > most) {
      at_line(field, std::string(name_of(column)) + ": expected a whole number up to " +
                         std::to_string(most) + ", found '" + std::string(field.text) + "'");
    }
    return value;
  }

  void read_event() {
    if (!split()) return;
    if (fields_.size() != columns_.size()) {
      at_line({line_, 1}, "expected " + std::to_string(columns_.size()) + " fields, found " +
                              std::to_string(fields_.size()));
      return;
    }
    constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();
    Event event;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      const Field& field = fields_[i];
      switch (columns_[i]) {
        case Column::kIndex:
          if (number(field, columns_[i], kAny) != table_.events.size()) {
            at_line(field, "index: expected " + std::to_string(table_.events.size()) + ", found '" +
                               std::string(field.text) + "'");
          }
          break;
        case Column::kAction:
          event.action = action(field);
          break;
        case Column::kAddress:
          event.address = number(field, columns_[i], kAny);
          break;
        case Column::kBytes:
          event.bytes = number(field, columns_[i], kAny);
          break;
        case Column::kStream:
          event.stream = static_cast<StreamId>(number(field, columns_[i], 0xffffU));
          break;
        case Column::kId:
          if (!field.text.empty()) {
            event.id = static_cast<RequestId>(number(field, columns_[i], kNoRequest - 1));
          }
          break;
        case Column::kPhase:
          table_.phases.push_back(intern(field.text, last_phase_));
          break;
        case Column::kOp:
          table_.ops.push_back(intern(field.text, last_op_));
          break;
        case Column::kDevice:
          event.device = static_cast<std::uint8_t>(number(field, columns_[i], 0xffU));
          break;
        case Column::kOther:
          break;
      }
    }
    table_.events.push_back(event);
  }

  Action action(const Field& field) {
    const auto* found = std::find(kActionNames.begin(), kActionNames.end(), field.text);
    if (found != kActionNames.end()) return static_cast<Action>(found - kActionNames.begin());
    at_line(field, "action: unknown action '" + std::string(field.text) + "'",
            did_you_mean(field.text, {kActionNames.begin(), kActionNames.end()}));
    return Action::kAlloc;
  }

  /// Neighbouring rows mostly share their texts.
  LabelId intern(std::string_view text, LabelId& last) {
    if (table_.labels.text(last) != text) last = table_.labels.intern(text);
    return last;
  }

  std::string_view rest_;
  std::string_view name_;
  std::string_view line_;
  std::uint32_t line_number_ = 0;  ///< of line_
  std::vector<Column> columns_;
  std::vector<Field> fields_;
  std::vector<std::unique_ptr<std::string>> unquoted_;
  std::vector<Problem> problems_;
  EventTable table_;
  LabelId last_phase_ = 0;
  LabelId last_op_ = 0;
};

}  // namespace

EventTable read_events_csv(std::string_view text, std::string_view name) {
  return EventsReader(text, name).read();
}

void append_csv_field(std::string_view text, std::string& out) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

void append_number(std::uint64_t number, std::string& out) {
  std::array<char, 20> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  out.append(digits.data(), end);
}

namespace {

void append_event(const Event& event, std::size_t index, std::string& out) {
  append_number(index, out);
  out += ',';
  out += action_name(event.action);
  out += ',';
  append_number(event.address, out);
  out += ',';
  append_number(event.bytes, out);
  out += ',';
  append_number(event.stream, out);
  out += ',';
  if (event.id != kNoRequest) append_number(event.id, out);
}

constexpr std::string_view kHead = "index,action,address,bytes,stream,id";

}  // namespace

void write_events_csv(const EventColumns& columns, std::string& out) {
  const std::span<const Event> events = columns.events;
  TIDEMARK_CHECK(columns.phases.empty() || columns.phases.size() == events.size(), "phases");
  TIDEMARK_CHECK(columns.ops.empty() || columns.ops.size() == events.size(), "ops");
  const bool devices =
      std::any_of(events.begin(), events.end(), [](const Event& e) { return e.device != 0; });
  out.reserve(out.size() + 64 + events.size() * 96);
  out += kHead;
  if (!columns.phases.empty()) out += ",phase";
  if (!columns.ops.empty()) out += ",op";
  if (devices) out += ",device";
  out += '\n';
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    append_event(event, i, out);
    if (!columns.phases.empty()) {
      out += ',';
      append_csv_field(columns.phases[i], out);
    }
    if (!columns.ops.empty()) {
      out += ',';
      append_csv_field(columns.ops[i], out);
    }
    if (devices) {
      out += ',';
      append_number(event.device, out);
    }
    out += '\n';
  }
}

void write_events_head(bool has_phases, std::string& out) {
  out += kHead;
  out += has_phases ? ",phase\n" : "\n";
}

void write_events_rows(std::span<const Event> events, std::span<const std::string_view> phases,
                       std::size_t first, std::string& out) {
  for (std::size_t i = 0; i < events.size(); ++i) {
    append_event(events[i], first + i, out);
    out += ',';
    append_csv_field(phases[i], out);
    out += '\n';
  }
}

}  // namespace tidemark
