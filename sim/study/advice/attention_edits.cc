#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/study/advice/call_edits.h"
#include "sim/study/advice/code_edit.h"
#include "sim/study/advice/script_edits.h"

namespace tidemark::script_edits {
namespace {

using lang::AssignStmt;
using lang::AttributeExpr;
using lang::BinaryExpr;
using lang::BinaryOp;
using lang::CallExpr;
using lang::Edit;
using lang::Expr;
using lang::ExprKind;
using lang::Place;
using lang::Stmt;
using lang::StmtKind;
using lang::UserCode;

const CallExpr* as_call(const Expr* node) {
  return node->kind == ExprKind::kCall ? static_cast<const CallExpr*>(node) : nullptr;
}

const BinaryExpr* as_binary(const Expr* node, BinaryOp op) {
  if (node->kind != ExprKind::kBinary) return nullptr;
  const auto* binary = static_cast<const BinaryExpr*>(node);
  return binary->op == op ? binary : nullptr;
}

/// The object of `object.name(...)`; null: the call is no method's.
const Expr* object_of(const CallExpr& call) {
  if (call.callee->kind != ExprKind::kAttribute) return nullptr;
  return static_cast<const AttributeExpr*>(call.callee)->object;
}

/// softmax(q @ k.transpose(-2, -1) * scale + mask) @ v, written out within one block.
class WrittenAttention {
 public:
  WrittenAttention(const UserCode& code, const lang::Block& block) : code_(code), block_(block) {}

  /// The edits that make the statement at `at` call scaled_dot_product_attention; empty: it is no
  /// attention.
  std::vector<Edit> edits(std::size_t at) {
    const Expr* last = value_of(*block_.body[at]);
    if (last == nullptr) return {};
    for (const Expr* node : code_.expressions()) {
      if (!within(node->place, last->place)) continue;
      if (std::optional<std::string> text = call_for(*node, at)) return replaced(*node, at, *text);
    }
    return {};
  }

 private:
  static const Expr* value_of(const Stmt& statement) {
    if (statement.kind == StmtKind::kAssign) return static_cast<const AssignStmt&>(statement).value;
    if (statement.kind == StmtKind::kReturn)
      return static_cast<const lang::ReturnStmt&>(statement).value;
    return nullptr;
  }

  /// a @ b, torch.matmul(a, b), torch.bmm(a, b)
  std::optional<std::pair<const Expr*, const Expr*>> product(const Expr& node) const {
    if (const BinaryExpr* binary = as_binary(&node, BinaryOp::kMatMul))
      return std::pair<const Expr*, const Expr*>{binary->left, binary->right};
    const CallExpr* call = as_call(&node);
    if (call == nullptr || call->arguments.size != 2 || !call->keywords.empty())
      return std::nullopt;
    const std::string path = code_.path(*call->callee);
    if (path != "torch.matmul" && path != "torch.bmm") return std::nullopt;
    return std::pair<const Expr*, const Expr*>{call->arguments[0], call->arguments[1]};
  }

  /// What a name stands for at `at_`: the statement before it that binds it becomes part of all.
  const Expr* resolved(const Expr* node) {
    while (node->kind == ExprKind::kName) {
      std::size_t i = at_;
      const Expr* value = nullptr;
      while (value == nullptr && i-- > 0) {
        if (block_.body[i]->kind != StmtKind::kAssign) continue;
        const auto& assigned = static_cast<const AssignStmt&>(*block_.body[i]);
        if (assigned.targets.size == 1 && assigned.targets[0]->kind == ExprKind::kName &&
            code_.text(*assigned.targets[0]) == code_.text(*node))
          value = assigned.value;
      }
      if (value == nullptr || !stands_alone(code_, *block_.body[i])) return node;
      at_ = i;
      gone_.push_back(block_.body[i]);
      node = value;
    }
    return node;
  }

  /// The class of which `self.drop` is made in this file: "torch.nn.Dropout".
  std::string class_of(const Expr& attribute) const {
    for (const Stmt* statement : code_.statements()) {
      if (statement->kind != StmtKind::kAssign) continue;
      const auto& assigned = static_cast<const AssignStmt&>(*statement);
      const CallExpr* made = as_call(assigned.value);
      if (made != nullptr && code_.text(*assigned.targets[0]) == code_.text(attribute))
        return code_.path(*made->callee);
    }
    return {};
  }

  const Expr* without_dropout(const Expr* node) {
    const CallExpr* call = as_call(node);
    if (call == nullptr || call->arguments.empty()) return node;
    if (code_.path(*call->callee) == "torch.nn.functional.dropout") {
      const Expr* p = call->arguments.size > 1 ? call->arguments[1] : keyword_of(code_, *call, "p");
      const Expr* training = keyword_of(code_, *call, "training");
      const std::string rate(p == nullptr ? "0.5" : code_.text(*p));
      dropout_ = training == nullptr
                     ? rate
                     : fmt::format("{} if {} else 0.0", rate, code_.text(*training));
    } else if (class_of(*call->callee) == "torch.nn.Dropout") {
      dropout_ = fmt::format("{}.p if self.training else 0.0", code_.text(*call->callee));
    } else {
      return node;
    }
    return resolved(call->arguments[0]);
  }

  /// .to(dtype), .type_as(x), .float(): the kernel works in float32 by itself.
  const Expr* without_casts(const Expr* node) {
    for (;;) {
      const CallExpr* call = as_call(node);
      const Expr* object = call == nullptr ? nullptr : object_of(*call);
      if (object == nullptr) return node;
      const std::string_view name = callee_name(code_, *call);
      if (name != "to" && name != "type_as" && name != "float") return node;
      node = resolved(object);
    }
  }

  /// Of softmax over the last dimension what it is of; null: it is none.
  const Expr* softmaxed(const Expr* node) {
    const CallExpr* call = as_call(node);
    if (call == nullptr || callee_name(code_, *call) != "softmax") return nullptr;
    const std::string path = code_.path(*call->callee);
    const bool is_function = path == "torch.softmax" || path == "torch.nn.functional.softmax";
    const std::size_t first = is_function ? 1 : 0;
    const Expr* of =
        is_function ? call->arguments.empty() ? nullptr : call->arguments[0] : object_of(*call);
    const Expr* dim =
        call->arguments.size > first ? call->arguments[first] : keyword_of(code_, *call, "dim");
    if (of == nullptr || dim == nullptr || code_.text(*dim) != "-1") return nullptr;
    return resolved(of);
  }

  bool is_product(const Expr* node) {
    const std::size_t at = at_;
    const std::size_t gone = gone_.size();
    const bool is = product(*resolved(node)).has_value();
    at_ = at;
    gone_.resize(gone);
    return is;
  }

  /// float("-inf"), torch.finfo(...).min, -1e9
  bool hides(const Expr& value) const {
    const std::string_view text = code_.text(value);
    return text.find("inf") != std::string_view::npos || text.starts_with("-1e");
  }

  /// Scores without mask and scale, which are kept.
  const Expr* bare_scores(const Expr* node) {
    for (;;) {
      node = without_casts(node);
      const CallExpr* call = as_call(node);
      const std::string_view name = call == nullptr ? "" : callee_name(code_, *call);
      const BinaryExpr* sum = as_binary(node, BinaryOp::kAdd);
      const BinaryExpr* times = as_binary(node, BinaryOp::kMul);
      const BinaryExpr* by = as_binary(node, BinaryOp::kTrueDiv);
      if (name == "masked_fill" && call->arguments.size == 2 && mask_.empty() && scale_.empty() &&
          hides(*call->arguments[1])) {
        mask_ = fmt::format("({}).logical_not()", code_.text(*call->arguments[0]));
        node = resolved(object_of(*call));
      } else if (sum != nullptr && mask_.empty() && scale_.empty()) {
        mask_ = code_.text(*sum->right);
        node = resolved(sum->left);
      } else if ((times != nullptr || by != nullptr) && scale_.empty()) {
        const BinaryExpr& scaled = times != nullptr ? *times : *by;
        const bool is_right = times != nullptr && !is_product(scaled.left);
        const Expr* factor = is_right ? scaled.left : scaled.right;
        scale_ = times != nullptr ? std::string(code_.text(*factor))
                                  : fmt::format("1 / ({})", code_.text(*factor));
        node = resolved(is_right ? scaled.right : scaled.left);
      } else {
        return node;
      }
    }
  }

  /// Of k.transpose(-2, -1) and k.mT the k; null: it is neither.
  const Expr* untransposed(const Expr& node) const {
    if (node.kind == ExprKind::kAttribute) {
      const auto& attribute = static_cast<const AttributeExpr&>(node);
      return code_.name(attribute.name) == "mT" ? attribute.object : nullptr;
    }
    const CallExpr* call = as_call(&node);
    if (call == nullptr || callee_name(code_, *call) != "transpose" || call->arguments.size != 2)
      return nullptr;
    const std::string a(code_.text(*call->arguments[0]));
    const std::string b(code_.text(*call->arguments[1]));
    const bool is_last_two = (a == "-2" && b == "-1") || (a == "-1" && b == "-2");
    return is_last_two ? object_of(*call) : nullptr;
  }

  std::optional<std::string> call_for(const Expr& node, std::size_t at) {
    const auto outer = product(node);
    if (!outer) return std::nullopt;
    at_ = at;
    gone_.clear();
    mask_ = scale_ = dropout_ = "";
    const Expr* weights = without_casts(resolved(outer->first));
    weights = without_casts(without_dropout(weights));
    const Expr* scores = softmaxed(weights);
    if (scores == nullptr) return std::nullopt;
    const auto inner = product(*bare_scores(scores));
    const Expr* key = inner ? untransposed(*inner->second) : nullptr;
    if (key == nullptr) return std::nullopt;
    std::string text =
        fmt::format("torch.nn.functional.scaled_dot_product_attention({}, {}, {}",
                    code_.text(*inner->first), code_.text(*key), code_.text(*outer->second));
    if (!mask_.empty()) text += fmt::format(", attn_mask={}", mask_);
    if (!dropout_.empty()) text += fmt::format(", dropout_p={}", dropout_);
    return fmt::format("{}, scale={})", text, scale_.empty() ? "1.0" : scale_);
  }

  /// Whether the statements that go bind nothing that others read, and what stays means the same
  /// at the end of them.
  bool can_go(const Expr& node, std::size_t at) const {
    std::set<const Stmt*> gone(gone_.begin(), gone_.end());
    std::set<std::string> bound;
    for (const Stmt* statement : gone)
      bound.emplace(code_.text(*static_cast<const AssignStmt*>(statement)->targets[0]));
    const Place scope = function_around();
    for (const Expr* name : code_.expressions()) {
      if (name->kind != ExprKind::kName || !within(name->place, scope)) continue;
      const bool is_within = within(name->place, node.place) ||
                             std::any_of(gone.begin(), gone.end(), [&](const Stmt* one) {
                               return within(name->place, lines_of(code_, *one, *one));
                             });
      if (!is_within && bound.count(std::string(code_.text(*name))) > 0) return false;
    }
    // What they read is the same at the end of them.
    std::set<lang::Name> read;
    for (const Stmt* statement : gone) {
      const lang::NamesUsed used = names_used(*statement);
      read.insert(used.read.begin(), used.read.end());
    }
    for (std::size_t i = at_; i < at; ++i) {
      if (gone.count(block_.body[i]) > 0) continue;
      for (const lang::Name name : names_used(*block_.body[i]).bound) {
        if (read.count(name) > 0) return false;
      }
    }
    return true;
  }

  Place function_around() const {
    Place scope{0, static_cast<std::uint32_t>(code_.text().size())};
    for (const Stmt* statement : code_.statements()) {
      if (statement->kind != StmtKind::kFunction || !stands_alone(code_, *statement)) continue;
      const Place lines = lines_of(code_, *statement, *statement);
      if (within(block_.body[0]->place, lines)) scope = lines;
    }
    return scope;
  }

  std::vector<Edit> replaced(const Expr& node, std::size_t at, const std::string& text) const {
    if (!can_go(node, at)) return {};
    std::vector<Edit> edits{{code_.extent(node), text}};
    for (const Stmt* statement : gone_)
      edits.push_back({lines_of(code_, *statement, *statement), {}});
    return edits;
  }

  const UserCode& code_;
  const lang::Block& block_;
  std::size_t at_ = 0;             ///< the statement that is looked at
  std::vector<const Stmt*> gone_;  ///< those that are part of it
  std::string mask_, scale_, dropout_;
};

/// Attention modules whose weights nobody takes: of `out, _ = self.attention(...)`.
std::vector<Edit> without_weights(const UserCode& code) {
  std::set<std::string_view> modules;
  std::set<const Expr*> unread;
  for (const Stmt* statement : code.statements()) {
    if (statement->kind != StmtKind::kAssign) continue;
    const auto& assigned = static_cast<const AssignStmt&>(*statement);
    const CallExpr* call = as_call(assigned.value);
    if (call == nullptr) continue;
    const Expr* target = assigned.targets[0];
    if (code.path(*call->callee) == "torch.nn.MultiheadAttention")
      modules.insert(code.text(*target));
    if (target->kind != ExprKind::kTuple) continue;
    const auto& items = static_cast<const lang::SequenceExpr*>(target)->items;
    if (items.size == 2 && code.text(*items[1]) == "_") unread.insert(call);
  }
  for (const Expr* node : code.expressions()) {
    if (node->kind != ExprKind::kSubscript) continue;
    const auto& item = static_cast<const lang::SubscriptExpr&>(*node);
    if (code.text(*item.index) == "0") unread.insert(item.object);
  }
  std::vector<Edit> edits;
  for (const PathCall& each : calls_of(code)) {
    if (unread.count(each.call) == 0 || modules.count(code.text(*each.call->callee)) == 0 ||
        keyword_of(code, *each.call, "need_weights") != nullptr)
      continue;
    for (Edit& edit : with_argument(code, *each.call, "need_weights=False"))
      edits.push_back(std::move(edit));
  }
  return edits;
}

/// attn_implementation="eager"
std::vector<Edit> without_eager(const UserCode& code) {
  std::vector<Edit> edits;
  for (const PathCall& each : calls_of(code)) {
    const Expr* given = keyword_of(code, *each.call, "attn_implementation");
    const std::string_view text = given == nullptr ? "" : code.text(*given);
    if (text == "\"eager\"" || text == "'eager'")
      edits.push_back({code.extent(*given), "\"sdpa\""});
  }
  return edits;
}

}  // namespace

Edited attention_kernel(const ScenarioSource& source, const Scenario& scenario) {
  const std::vector<UserFile> files = user_files(source, scenario);
  std::vector<FileEdits> all;
  for (const UserFile& file : files) {
    const UserCode& code = *file.code;
    FileEdits own{&file, {}};
    for (const lang::Block& block : lang::blocks_of(code)) {
      WrittenAttention attention(code, block);
      for (std::size_t at = 0; at < block.body.size; ++at) {
        for (Edit& edit : attention.edits(at)) own.edits.push_back(std::move(edit));
      }
    }
    if (!own.edits.empty()) {
      for (Edit& edit : with_import(code, "torch")) own.edits.push_back(std::move(edit));
    }
    for (Edit& edit : without_weights(code)) own.edits.push_back(std::move(edit));
    for (Edit& edit : without_eager(code)) own.edits.push_back(std::move(edit));
    all.push_back(std::move(own));
  }
  return edit_files(std::move(all), "attention by scaled_dot_product_attention");
}

}  // namespace tidemark::script_edits
