#include "sim/lang/syntax/loop_uses.h"

#include <algorithm>

#include "sim/lang/syntax/walker.h"

namespace tidemark::lang {

namespace {

/// All names that are assigned to anywhere in a loop's body.
class Assigned final : public Walker {
 public:
  void target(const Expr* node) override {
    if (node->kind == ExprKind::kName) {
      names.push_back(static_cast<const NameExpr*>(node)->name);
      is_global.push_back(static_cast<const NameExpr*>(node)->access == Access::kGlobal);
    } else if (node->kind == ExprKind::kTuple || node->kind == ExprKind::kList) {
      for (const Expr* item : static_cast<const SequenceExpr*>(node)->items) target(item);
    } else if (node->kind == ExprKind::kStarred) {
      target(static_cast<const StarredExpr*>(node)->value);
    } else {
      expr(node);
    }
  }
  std::vector<Name> names;
  std::vector<bool> is_global;
};

class Looks final : public Walker {
 public:
  Looks(const NameExpr& variable, const LoopSurroundings& surroundings, std::vector<Name> assigned)
      : variable_(variable), surroundings_(surroundings), assigned_(std::move(assigned)) {}

  void expr(const Expr* node) override {
    if (is_followed(node)) return;
    parts(node);
  }
  LoopUses uses;

 protected:
  void name(const NameExpr* node) override {
    if (node->name == variable_.name && uses.obstacle == nullptr) uses.obstacle = node;
  }

 private:
  bool is_followed(const Expr* node) {
    if (node->kind == ExprKind::kBinary) {
      const auto* binary = static_cast<const BinaryExpr*>(node);
      if (binary->op != BinaryOp::kMod) return false;
      const auto plus = shifted(binary->left);
      const auto divisor = constant(binary->right);
      if (!plus || !divisor || *divisor <= 0) return false;
      uses.remainders.push_back({*plus, *divisor});
      return true;
    }
    if (node->kind == ExprKind::kCompare) return compares(static_cast<const CompareExpr*>(node));
    if (node->kind == ExprKind::kCall) return labels(static_cast<const CallExpr*>(node));
    return false;
  }
  bool compares(const CompareExpr* node) {
    if (node->steps.size != 1 || node->steps[0].relation > Relation::kGe) return false;
    for (const bool is_left : {true, false}) {
      const auto plus = shifted(is_left ? node->left : node->steps[0].right);
      const auto bound = constant(is_left ? node->steps[0].right : node->left);
      if (!plus || !bound) continue;
      uses.bounds.push_back(*bound - *plus);
      return true;
    }
    return false;
  }
  /// phase(f"forward {i}"): the name tells of i, and decides nothing.
  bool labels(const CallExpr* node) {
    if (node->callee->kind != ExprKind::kName || node->arguments.size != 1 ||
        !node->keywords.empty() || node->arguments[0]->kind != ExprKind::kJoined ||
        !surroundings_.is_label(*static_cast<const NameExpr*>(node->callee))) {
      return false;
    }
    for (const JoinedPart& part : static_cast<const JoinedExpr*>(node->arguments[0])->parts) {
      if (part.value == nullptr || (shifted(part.value) && part.spec == nullptr)) continue;
      expr(part.value);
      if (part.spec != nullptr) expr(part.spec);
    }
    return true;
  }
  /// i, i + 1, i - 2: what is added.
  std::optional<std::int64_t> shifted(const Expr* node) {
    if (node->kind == ExprKind::kName) {
      const auto* name = static_cast<const NameExpr*>(node);
      const bool is_variable = name->name == variable_.name && name->access == variable_.access &&
                               name->slot == variable_.slot;
      return is_variable ? std::optional<std::int64_t>(0) : std::nullopt;
    }
    if (node->kind != ExprKind::kBinary) return std::nullopt;
    const auto* binary = static_cast<const BinaryExpr*>(node);
    if (binary->op != BinaryOp::kAdd && binary->op != BinaryOp::kSub) return std::nullopt;
    const auto left = shifted(binary->left);
    const auto right = constant(binary->right);
    if (!left || !right || std::abs(*right) > kLargest) return std::nullopt;
    return binary->op == BinaryOp::kAdd ? *left + *right : *left - *right;
  }
  std::optional<std::int64_t> constant(const Expr* node) {
    const auto value = constant_part(node);
    return value && std::abs(*value) <= kLargest ? value : std::nullopt;
  }
  std::optional<std::int64_t> constant_part(const Expr* node) {
    if (node->kind == ExprKind::kConstant) {
      const Literal& value = static_cast<const ConstantExpr*>(node)->literal;
      return value.kind == Literal::Kind::kInt ? std::optional(value.integer()) : std::nullopt;
    }
    if (node->kind == ExprKind::kName) {
      const auto* name = static_cast<const NameExpr*>(node);
      const bool is_fixed =
          name->name != variable_.name &&
          std::find(assigned_.begin(), assigned_.end(), name->name) == assigned_.end();
      return is_fixed ? surroundings_.value_of(*name) : std::nullopt;
    }
    if (node->kind != ExprKind::kBinary) return std::nullopt;
    const auto* binary = static_cast<const BinaryExpr*>(node);
    const auto left = constant(binary->left);
    const auto right = constant(binary->right);
    if (!left || !right) return std::nullopt;
    switch (binary->op) {
      case BinaryOp::kAdd:
        return *left + *right;
      case BinaryOp::kSub:
        return *left - *right;
      case BinaryOp::kMul:
        return std::abs(*left) < kFactor && std::abs(*right) < kFactor
                   ? std::optional(*left * *right)
                   : std::nullopt;
      default:
        return std::nullopt;
    }
  }

  static constexpr std::int64_t kLargest = std::int64_t{1} << 61U;
  static constexpr std::int64_t kFactor = std::int64_t{1} << 31U;
  const NameExpr& variable_;
  const LoopSurroundings& surroundings_;
  std::vector<Name> assigned_;
};

class Mentions final : public Walker {
 public:
  explicit Mentions(Name wanted) : wanted_(wanted) {}
  bool found = false;

 protected:
  void name(const NameExpr* node) override { found = found || node->name == wanted_; }

 private:
  Name wanted_;
};

}  // namespace

LoopUses uses_of_loop_variable(const ForStmt& loop, const LoopSurroundings& surroundings) {
  Assigned assigned;
  assigned.body(loop.body);
  const auto* variable = static_cast<const NameExpr*>(loop.target);
  Looks looks(*variable, surroundings, assigned.names);
  looks.body(loop.body);
  return looks.uses;
}

bool mentions(const Code& code, Name name) {
  Mentions mentions(name);
  mentions.code(code);
  return mentions.found;
}

bool assigns(const Code& code, Name name) {
  Assigned assigned;
  assigned.code(code);
  for (std::size_t i = 0; i < assigned.names.size(); ++i) {
    if (assigned.names[i] == name && assigned.is_global[i]) return true;
  }
  return false;
}

}  // namespace tidemark::lang
