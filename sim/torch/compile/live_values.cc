#include "sim/torch/compile/live_values.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <unordered_set>

#include "sim/torch/tensors/tensor_object.h"

namespace tidemark::torch {

using lang::Frame;
using lang::Value;

void collect_tensors(const Value& value, ops::TensorList& into) {
  if (const auto* object = value.as<TensorObject>()) {
    if (std::find(into.begin(), into.end(), object->tensor) == into.end())
      into.push_back(object->tensor);
    return;
  }
  if (const auto* list = value.as<lang::List>()) {
    for (const Value& item : list->items) collect_tensors(item, into);
  } else if (const auto* tuple = value.as<lang::Tuple>()) {
    for (const Value& item : tuple->items) collect_tensors(item, into);
  } else if (const auto* dict = value.as<lang::Dict>()) {
    for (const auto& entry : dict->table.entries()) {
      if (!entry.key.empty()) collect_tensors(entry.value, into);
    }
  } else if (const auto* cell = value.as<lang::Cell>()) {
    collect_tensors(cell->value, into);
  }
}

namespace {

class ResultCollector {
 public:
  explicit ResultCollector(ops::TensorList& into) : into_(into) {}

  void visit(const Value& value) {
    collect_tensors(value, into_);
    if (!value.is_object() || !seen_.insert(value.object()).second) return;
    if (const auto* list = value.as<lang::List>()) {
      for (const Value& item : list->items) visit(item);
    } else if (const auto* tuple = value.as<lang::Tuple>()) {
      for (const Value& item : tuple->items) visit(item);
    } else if (const auto* dict = value.as<lang::Dict>()) {
      for (const auto& entry : dict->table.entries()) {
        if (!entry.key.empty()) visit(entry.value);
      }
    } else if (value.object()->kind() == lang::Kind::kInstance) {
      const auto* instance = value.as<lang::Instance>();
      for (const auto& entry : instance->attrs().entries()) visit(entry.value);
    }
  }

 private:
  ops::TensorList& into_;
  std::unordered_set<const void*> seen_;
};

bool is_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// Where a name stands by itself from a place on; npos: nowhere.
std::size_t find_name(std::string_view text, std::string_view name, std::size_t from) {
  for (std::size_t at = text.find(name, from); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    const bool begins = at == 0 || (!is_of_name(text[at - 1]) && text[at - 1] != '.');
    const std::size_t end = at + name.size();
    if (begins && (end >= text.size() || !is_of_name(text[end]))) return at;
  }
  return std::string_view::npos;
}

/// Whether code reads a variable before it gives it another value.
bool is_read_in(std::string_view text, std::string_view name) {
  std::size_t from = 0;
  while (true) {
    const std::size_t at = find_name(text, name, from);
    if (at == std::string_view::npos) return false;
    std::size_t next = at + name.size();
    while (next < text.size() && text[next] == ' ') ++next;
    const bool assigns = next + 1 < text.size() && text[next] == '=' && text[next + 1] != '=';
    const std::size_t line = text.rfind('\n', at);
    const std::size_t begin = line == std::string_view::npos ? 0 : line + 1;
    const bool is_first =
        text.substr(begin, at - begin).find_first_not_of(" \t") == std::string_view::npos;
    if (!assigns || !is_first) return true;
    // Given another value, unless that is made of it.
    const std::size_t end = std::min(text.find('\n', next), text.size());
    return find_name(text.substr(0, end), name, next) != std::string_view::npos;
  }
}

std::uint32_t end_of(const lang::Code& code, std::string_view text) {
  // Up to the first line that is less indented than the code's body.
  if (code.body.empty()) return static_cast<std::uint32_t>(text.size());
  const std::size_t begin = code.body[0]->place.begin;
  const std::size_t line = text.rfind('\n', begin);
  const std::size_t indent = begin - (line == std::string_view::npos ? 0 : line + 1);
  std::size_t at = code.body[code.body.size - 1]->place.begin;
  while (true) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos) return static_cast<std::uint32_t>(text.size());
    std::size_t first = end + 1;
    while (first < text.size() && (text[first] == ' ' || text[first] == '\t')) ++first;
    const bool is_empty = first >= text.size() || text[first] == '\n' || text[first] == '#';
    if (!is_empty && first - end - 1 < indent) return static_cast<std::uint32_t>(end);
    at = end + 1;
    if (at >= text.size()) return static_cast<std::uint32_t>(text.size());
  }
}

bool is_in_loop(const lang::Seq<lang::Stmt*>& body, std::uint32_t at);

bool is_within(const lang::Seq<lang::Stmt*>& body, std::uint32_t at) {
  return !body.empty() && at >= body[0]->place.begin;
}

bool is_in_loop(const lang::Stmt& statement, std::uint32_t at) {
  switch (statement.kind) {
    case lang::StmtKind::kFor: {
      const auto& loop = static_cast<const lang::ForStmt&>(statement);
      if (is_within(loop.otherwise, at)) return is_in_loop(loop.otherwise, at);
      return is_within(loop.body, at);
    }
    case lang::StmtKind::kWhile:
      return true;
    case lang::StmtKind::kIf: {
      const auto& choice = static_cast<const lang::IfStmt&>(statement);
      const bool is_other = is_within(choice.otherwise, at);
      return is_in_loop(is_other ? choice.otherwise : choice.body, at);
    }
    case lang::StmtKind::kWith:
      return is_in_loop(static_cast<const lang::WithStmt&>(statement).body, at);
    case lang::StmtKind::kTry:
      return true;
    default:
      return false;
  }
}

bool is_in_loop(const lang::Seq<lang::Stmt*>& body, std::uint32_t at) {
  for (std::size_t i = body.size; i-- > 0;) {
    if (body[i]->place.begin <= at) return is_in_loop(*body[i], at);
  }
  return false;
}

}  // namespace

void collect_results(const Value& value, ops::TensorList& into) {
  ResultCollector(into).visit(value);
}

bool is_in_loop(const Frame& frame) { return is_in_loop(frame.code->body, frame.at.begin); }

LiveValues live_values(lang::Interp& interp, const Frame* frame) {
  LiveValues live;
  const Value* first = nullptr;
  const Value* last = nullptr;
  if (frame != nullptr) {
    first = frame->slots;
    last = frame->slots + frame->code->slots.size;
  }
  interp.value_stack().for_each([&](const Value& value) {
    const bool is_variable =
        first != nullptr && !std::less<>()(&value, first) && std::less<>()(&value, last);
    if (!is_variable) collect_tensors(value, live.used);
  });
  if (frame == nullptr) return live;
  const std::string_view text = view(frame->code->file->text);
  const std::size_t end = end_of(*frame->code, text);
  const std::size_t from = std::min<std::size_t>(frame->at.end, end);
  const std::string_view rest = text.substr(from, end - from);
  for (std::size_t i = 0; i < frame->code->slots.size; ++i) {
    const std::string_view name = interp.text(frame->code->slots[i]);
    // What an expression under way has taken already is needed, too.
    const lang::Object* object = frame->slots[i].is_object() ? frame->slots[i].object() : nullptr;
    const bool is_taken = object != nullptr && object->use_count() > 1;
    const bool is_used = is_taken || is_read_in(rest, name);
    // Objects of the program's own hold results, too.
    collect_results(frame->slots[i], is_used ? live.used : live.dead);
  }
  std::erase_if(live.dead, [&](const ops::Tensor& tensor) {
    return std::find(live.used.begin(), live.used.end(), tensor) != live.used.end();
  });
  return live;
}

}  // namespace tidemark::torch
